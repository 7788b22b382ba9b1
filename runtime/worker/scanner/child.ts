/**
 * The entry of the embedded scanner's process: it receives images one at a time, answers with scores, and ends with its
 * parent. It has no secrets and no environment. The message format is in platform/scanner/embedded-scanner.ts.
 */
import sharp from 'sharp';
import { blockLoaders, withLoaders } from '../sandbox/loaders.ts';
import { lowerPriority } from '../sandbox/lower-priority.ts';
import { openNsfwModel } from './nsfw-model.ts';

lowerPriority();
sharp.cache(false);
sharp.concurrency(1);
blockLoaders();
// Ctrl-C in a terminal is for the parent, which first ends its running work.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(0));

const model = await openNsfwModel();
process.on('message', (picture: unknown) => {
  if (!(picture instanceof Uint8Array)) throw new TypeError('a picture is bytes');
  // Its renditions are JPEGs of our own, so no other loader is enabled.
  withLoaders(['image/jpeg'], () => model.scan(picture)).then(
    (scores) => process.send?.({ scores }),
    (error) => process.send?.({ refused: String(error) }),
  );
});
process.send?.({ ready: true });
