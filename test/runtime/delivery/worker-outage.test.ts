// The storage is away for the worker alone: nothing is wrong with the image, so that viewers are told to come again,
// and the next one is served as soon as it is back. Spec: Delivery refusals in checking order; Errors.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { StorageUnavailable } from '../../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { type DeliveryStack, openStack } from '../../support/delivery-stack.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let stack: DeliveryStack;
let host: DeliveryHost;
let project: ProjectRow;
let isAway = false;

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
    },
  });
  project = await makeProject(db);
  const bytes = await over(photograph(320, 240)).jpeg().toBuffer();
  const image = { bytes, width: 320, height: 240, content_type: 'image/jpeg' as const };
  await publishImage({ db, content }, project, { image, file_slug: 'cat' });
});
afterAll(async () => {
  await host.close();
  await stack.closeQueues();
  stack.remove();
});

it('is 503 busy while it lasts, and remembered by nobody', async () => {
  const get = () => host.get(project.project_slug, '/resize/40x/f/cat');
  isAway = true;
  const { status, code, headers } = await get();
  expect([status, code, headers['retry-after']]).toEqual([503, 'busy', '2']);
  isAway = false;
  expect((await get()).status).toBe(200);
});
