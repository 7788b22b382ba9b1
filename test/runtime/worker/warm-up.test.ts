import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { findFile } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import type { Queue } from '../../../runtime/platform/queue/queue.ts';
import { startWorker, type Worker } from '../../../runtime/worker/serve.ts';
import { createWarmUp } from '../../../runtime/worker/warm-up.ts';
import { useDatabase } from '../../support/database.ts';
import { change, makeWatermark } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeFolderBuckets } from '../../support/folder-buckets.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../support/uploads.ts';

const { db } = useDatabase();
const { buckets, remove } = makeFolderBuckets();
const queue = createInProcessQueue();
const SOON = { timeout: 30_000 };
const log = createLog({ level: 'silent', name: 'test' });
let bytes: Buffer;
let host: DeliveryHost;
let worker: Worker;
let renders: string[];
let project: ProjectRow;

beforeAll(async () => {
  bytes = await over(photograph(400, 300)).jpeg().toBuffer();
  host = await startDeliveryHost({ db, content: buckets.content, queue, wall_clock_ms: 0 });
});
afterAll(async () => {
  await host.close();
  remove();
});
beforeEach(async () => {
  renders = [];
  project = await makeProject(db, {
    resolution_presets: { thumb: 'resize/80x80/smart', large: 'resize/300x', gone: 'resize/none' },
  });
  worker = await startWorker({
    db,
    buckets,
    queue,
    clock: systemClock,
    log,
    poll_every_ms: 20,
    metrics: {
      ingest: () => undefined,
      decoderKilled: () => undefined,
      registerSources: () => undefined,
      render: ({ format, result }) => void (result === 'done' && renders.push(format)),
    },
  });
});
afterEach(() => worker.stop());

const input = (names: string[]) =>
  db.query('update projects set warm_presets = $2 where project_id = $1', [
    project.project_id,
    names,
  ]);

async function publish(file_slug = 'cat'): Promise<void> {
  const upload = await arrive({ db, buckets }, project, { bytes, file_slug });
  const status = async () => (await uploadAsItIs(db, upload)).status;
  await expect.poll(status, SOON).toBe('ready');
}

/**
 * Counts stored images: `renders` grows before storing, and a viewer in between would cause another
 * render.
 */
async function countStored(): Promise<number> {
  const prefix = `derived/${project.project_id}/`;
  return (await buckets.content.list({ prefix, limit: 10 })).length;
}

it('warm presets are rendered when a file is published, and viewers get the stored images', async () => {
  await input(['thumb', 'large', 'gone', 'unknown']);
  await publish();
  await expect.poll(() => renders.length, SOON).toBe(2);
  await expect.poll(countStored, SOON).toBe(2);
  for (const name of ['thumb', 'large']) {
    expect((await host.get(project.project_slug, `/preset:${name}/f/cat`)).status).toBe(200);
  }
  expect(renders).toHaveLength(2);
});

it('a warm preset that cannot be rendered does not stop the next one', async () => {
  await publish('logo');
  const logo = await revisionOf('logo');
  const watermark = await makeWatermark(db, project, logo);
  await buckets.content.delete(logo.object_key);
  await change(db, project, {
    resolution_presets: {
      marked: `resize/90x/watermark:${watermark}`,
      thumb: 'resize/80x80/smart',
    },
  });
  await input(['marked', 'thumb']);
  await publish();
  await expect.poll(countStored, SOON).toBe(1);
  expect((await host.get(project.project_slug, '/preset:thumb/f/cat')).status).toBe(200);
  expect(renders).toHaveLength(1);
});

it('a preset that was already rendered for a viewer does not keep the next one waiting', async () => {
  await publish();
  expect((await host.get(project.project_slug, '/preset:thumb/f/cat')).status).toBe(200);
  await expect.poll(countStored, SOON).toBe(1);
  await input(['thumb', 'large']);
  const asked: unknown[] = [];
  const call: Queue['call'] = (name, payload, options) => {
    asked.push(payload);
    return queue.call(name, payload, options);
  };
  const warmUp = createWarmUp({ db, buckets, queue: { ...queue, call }, log });
  const file = await findFile(db, { project_id: project.project_id, file_slug: 'cat' });
  warmUp.add(file ?? expect.fail('no file'));
  await expect.poll(countStored, SOON).toBe(2);
  await warmUp.stop();
  expect(asked).toHaveLength(2);
});

async function revisionOf(slug: string): Promise<{ file_id: string; object_key: string }> {
  const [row] = await db.query<{ file_id: string; object_key: string }>(
    `select file_id, object_key from files join file_revisions using (file_id, revision)
     where project_id = $1 and file_slug = $2`,
    [project.project_id, slug],
  );
  return row ?? expect.fail('no revision');
}

it('nothing is rendered before a viewer asks if the project has no warm presets', async () => {
  await publish();
  await worker.stop();
  expect(renders).toEqual([]);
});

it('viewers who come during the warm-up get the image, which is rendered only once', async () => {
  await input(['thumb']);
  await publish();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => host.get(project.project_slug, '/preset:thumb/f/cat')),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  await worker.stop();
  expect(renders).toHaveLength(1);
});
