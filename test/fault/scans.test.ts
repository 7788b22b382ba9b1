// Spec: File (status), the automatic scanner; Staff previews. In a deployment, where dispatcher and API call a worker
// through RabbitMQ, the worker draws previews, and S3 stores.
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createPreviewGate } from '../../runtime/api/preview-gate.ts';
import { renderPreview } from '../../runtime/api/render-preview.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { findScannedRevision } from '../../runtime/db/scanned-revisions.ts';
import { createLog } from '../../runtime/platform/log.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import { useDatabase } from '../support/database.ts';
import { makeProject, must } from '../support/rows.ts';
import { scores } from '../support/scanner-server.ts';
import { makeScans, type Scans } from '../support/scans.ts';
import { type Broker, takeVirtualHost } from '../support/shared-broker.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';

const { db } = useDatabase();
const START_MS = 120_000;
const stays = new AbortController().signal;
let broker: Broker;
let storage: TestStorage;
let queue: Queue;
let worker_queue: Queue;
let scans: Scans;
let project: ProjectRow;

beforeAll(async () => {
  [broker, storage] = await Promise.all([takeVirtualHost(), makeStorage('S3')]);
  const log = createLog({ level: 'silent', name: 'test' });
  const connect = () => createRabbitQueue({ url: broker.url, log });
  [queue, worker_queue] = await Promise.all([connect(), connect()]);
  scans = await makeScans(db, { buckets: storage.buckets, queue, worker_queue });
}, START_MS);
afterAll(async () => {
  await scans?.close();
  await queue?.close();
  await worker_queue?.close();
  await storage?.remove();
});
beforeEach(async () => {
  // Removes the checks of revisions that other tests have published.
  await db.query('delete from scanner_checks');
  project = await makeProject(db);
});

const statuses = async () => {
  const rows = await db.query<{ status: string }>(
    'select status from scanner_checks where project_id = $1 order by created_at',
    [project.project_id],
  );
  return rows.map(({ status }) => status);
};

it('the scanner receives a revision from S3, rendered by a worker behind the broker', {
  timeout: START_MS,
}, async () => {
  scans.server.answer(scores({ nudity: 0.99 }));
  await scans.publish(project, 'hero.jpg');
  await scans.publish(project, 'other.jpg');
  expect(await scans.scan()).toMatchObject({ flagged: 2, put_off: 0 });
  expect(await statuses()).toEqual(['flagged', 'flagged']);
  const { format, width } = await sharp(scans.server.seen[0]?.bytes).metadata();
  expect([format, width]).toEqual(['jpeg', 512]);
});

it('staff previews of a scanned revision are rendered by that worker too', {
  timeout: START_MS,
}, async () => {
  const file = await scans.publish(project, 'hero.jpg');
  const source = must(await findScannedRevision(db, file));
  const rendition = { fit: 'box', pixels: 480, format: 'webp', quality: 80 } as const;
  const previews = createPreviewGate();
  const { bytes, headers } = await renderPreview({ previews, queue }, source, {
    ...{ rendition, left: stays },
  });
  const { width } = await sharp(bytes).metadata();
  expect([headers['content-type'], width]).toEqual(['image/webp', 480]);
});
