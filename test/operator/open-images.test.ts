import { expect, it } from 'vitest';
import { openImages } from '../../operator/open-images.ts';
import type { UploadSettings } from '../../runtime/actions/create-upload.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import { parseConfig } from '../../runtime/platform/config.ts';
import { silentLog as log } from './kube/silent-log.ts';

const uploads: UploadSettings = {
  ...{ avifUploads: 'enabled', svgUploads: 'disabled', mediaLibraryWrites: 'enabled' },
  ingestMaxBytes: 250_000_000,
};
const findSettings = async () => ({ plans: defaultPlans, uploads });
const edges = { subscribe: () => undefined };

/** Nothing listens on port 1. */
const env = { TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1', TINTYPE_AMQP_URL: 'amqp://127.0.0.1:1' };

it('an operator starts without the broker, and takes images no larger than a watermark may be', async () => {
  const stops: (() => unknown)[] = [];
  const lifecycle = { onStop: (_name: string, stop: () => unknown) => void stops.push(stop) };
  const images = openImages(parseConfig(env), { log, lifecycle, findSettings, edges });
  // The limits of the API, but no more than the size that a watermark may have.
  expect(await images?.findSettings()).toEqual({
    plans: defaultPlans,
    settings: { ...uploads, ingestMaxBytes: 8 * 1024 * 1024 },
  });
  await expect(images?.queue.publish('ingest', {})).rejects.toThrow('the broker is unavailable');
  await Promise.all(stops.map((stop) => stop()));
});

it('an operator without storage accepts no declared images', () => {
  const lifecycle = { onStop: () => undefined };
  expect(openImages(parseConfig({}), { log, lifecycle, findSettings, edges })).toBeUndefined();
});

it('an operator refuses to write to another bucket than the one that workers read', async () => {
  const lifecycle = { onStop: () => undefined };
  const open = (ingestBucket: string) =>
    openImages(parseConfig({ TINTYPE_S3_ENDPOINT: env.TINTYPE_S3_ENDPOINT }), {
      ...{ log, lifecycle, edges },
      findSettings: async () => ({ plans: defaultPlans, uploads, ingestBucket }),
    });
  await expect(open('other')?.findSettings()).rejects.toMatchObject({
    advice: expect.stringContaining('set TINTYPE_INGEST_BUCKET of the operator'),
  });
  expect(await open('tintype-ingest')?.findSettings()).toMatchObject({ plans: defaultPlans });
});

it('a refused image may be tried again once the ImageService changes, and after an hour at the latest', () => {
  const subscribers: ((slug?: string) => void)[] = [];
  const subscribe = (handler: (slug?: string) => void) => void subscribers.push(handler);
  const lifecycle = { onStop: () => undefined };
  const config = parseConfig({ TINTYPE_S3_ENDPOINT: env.TINTYPE_S3_ENDPOINT });
  const images = openImages(config, { log, lifecycle, findSettings, edges: { subscribe } });
  const tellAll = (slug?: string) => {
    for (const handler of subscribers) handler(slug);
  };
  images?.refused.set('digest', 'SVG uploads are disabled');
  tellAll('shop');
  expect(images?.refused.size).toBe(1);
  // A refusal expires, because newer limits of the operator or another plan can also make it
  // obsolete.
  expect(images?.refused.getRemainingTTL('digest')).toBeLessThanOrEqual(60 * 60_000);
  tellAll();
  expect(images?.refused.size).toBe(0);
});
