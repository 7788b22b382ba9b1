/**
 * Entry of the embedded scanner's process: it is sent pictures one at a time, answers with scores, and ends with its
 * parent. It has no secrets and no environment. The words that both speak stand in platform/scanner/embedded-scanner.ts.
 */
import sharp from 'sharp';
import { blockLoaders, withLoaders } from '../sandbox/loaders.ts';
import { stepBack } from '../sandbox/step-back.ts';
import { openNsfwModel } from './nsfw-model.ts';

stepBack();
sharp.cache(false);
sharp.concurrency(1);
blockLoaders();
// A key pressed in a terminal speaks to the parent, which ends what it does first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));

const model = await openNsfwModel();
process.on('message', (picture: unknown) => {
  if (!(picture instanceof Uint8Array)) throw new TypeError('a picture is bytes');
  // The renditions that it is sent are JPEGs of our own: no other decoder is there.
  withLoaders(['image/jpeg'], () => model.scan(picture)).then(
    (scores) => process.send?.({ scores }),
    (error) => process.send?.({ refused: String(error) }),
  );
});
process.send?.({ ready: true });
