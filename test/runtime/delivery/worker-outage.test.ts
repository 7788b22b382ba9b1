// The storage fails for the worker only: viewers are told to retry, since nothing is wrong with the image, and are
// served as soon as it is back. Spec: Delivery refusals in checking order; Errors.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RENDER_REPLY_BYTES_MAX } from '../../../runtime/core/limits.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { StorageUnavailable } from '../../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { type DeliveryStack, openStack } from '../../support/delivery-stack.ts';
import { over, photograph, seededRandom } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let stack: DeliveryStack;
let host: DeliveryHost;
let project: ProjectRow;
let isAway = false;
let isFull = false;

beforeAll(async () => {
  stack = await openStack();
  const { content } = stack;
  host = await startDeliveryHost({
    db,
    content,
    worker_content: {
      ...content,
      read: async (key, place) => {
        if (isAway) throw new StorageUnavailable('the bucket does not answer');
        return content.read(key, place);
      },
      write: async (key, body, facts) => {
        if (isFull) throw new StorageUnavailable('the bucket takes nothing');
        return content.write(key, body, facts);
      },
    },
  });
  project = await makeProject(db);
  const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
  const image = { bytes, width: 320, height: 240, content_type: 'image/jpeg' as const };
  await publishImage({ db, content }, project, { image, file_slug: 'cat' });
  await publishImage({ db, content }, project, { image: await noise(), file_slug: 'noise' });
});
/** An image whose PNG exceeds the size of a worker's reply. */
async function noise() {
  const [width, height, channels] = [800, 600, 3] as const;
  const random = seededRandom(1);
  const pixels = Buffer.from(
    Array.from({ length: width * height * channels }, () => Math.floor(random() * 256)),
  );
  const bytes = await sharp(pixels, { raw: { width, height, channels } }).png().toBuffer();
  return { bytes, width, height, content_type: 'image/png' as const };
}

afterAll(async () => {
  await host.close();
  await stack.closeQueues();
  stack.remove();
});

it('an outage of the worker’s storage is answered with 503 busy, and not remembered', async () => {
  const get = () => host.get(project.project_slug, '/resize/40x/f/cat');
  isAway = true;
  const { status, code, headers } = await get();
  expect([status, code, headers['retry-after']]).toEqual([503, 'busy', '2']);
  isAway = false;
  expect((await get()).status).toBe(200);
});

it('worker storage without room still serves small images, and answers 503 busy for large ones', async () => {
  const get = (path: string) => host.get(project.project_slug, path);
  isFull = true;
  expect((await get('/resize/41x/f/cat')).status).toBe(200);
  for (const _time of [1, 2]) {
    const { status, code, headers } = await get('/format/png/f/noise');
    expect([status, code, headers['retry-after']]).toEqual([503, 'busy', '2']);
  }
  isFull = false;
  const { status, body } = await get('/format/png/f/noise');
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThan(RENDER_REPLY_BYTES_MAX);
});
