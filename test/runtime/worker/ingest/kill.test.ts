import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFile } from '../../../../runtime/db/files.ts';
import { findProject } from '../../../../runtime/db/projects.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { named, untilAlone } from '../../../fault/support/ingest-kills.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { over, photograph } from '../../../support/pictures.ts';
import { makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

/**
 * While its decoder is idle, while that decodes, and after it; ingest-kill.test.ts kills at every
 * step.
 */
const steps = ['ingest.claimed', 'ingest.verified', 'ingest.published'] as const;
const { db, url } = useDatabase();
const storage = makeFolderBuckets();
const { buckets } = storage;
const log = createLog({ level: 'silent', name: 'test' });
let sandbox: Sandbox;
let bytes: Buffer;

beforeAll(async () => {
  bytes = await over(photograph(1100, 300)).jpeg().toBuffer();
  sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 30_000,
    memory_bytes: 2e9,
    jobs_per_child: 100,
    log,
  });
});
afterAll(async () => {
  await sandbox.close();
  storage.remove();
});

async function dieAt(point: string): Promise<void> {
  const program = fileURLToPath(new URL('./dying-worker.ts', import.meta.url));
  const child = spawn(process.execPath, [program, named(url()), storage.folder, point], {
    stdio: 'inherit',
  });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  await untilAlone({ db });
}

/** Decoders of killed workers: init has become their parent. */
function orphanedDecoders(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isDecoder = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(
          'worker/sandbox/child.ts',
        );
        const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return isDecoder && parent === '1';
      } catch {
        return false;
      }
    });
}

describe('a worker killed during ingest', () => {
  it.each(steps)(
    'at "%s" leaves the upload to the next attempt, which publishes it exactly once',
    async (point) => {
      const project = await makeProject(db, {
        callback_url: 'https://shop.example/hook',
        callback_secret_sealed: Buffer.alloc(32, 1),
      });
      const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'picture' });
      await dieAt(point);
      await db.query(
        `update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1 and status = 'processing'`,
        [upload.upload_id],
      );
      await ingestUpload(
        {
          db,
          buckets,
          sandbox,
          log,
          clock: systemClock,
          ingest_bytes_max: 1e9,
        },
        upload.upload_id,
      );
      const file = await findFile(db, { project_id: project.project_id, file_slug: 'picture' });
      expect(await uploadAsItIs(db, upload)).toMatchObject({ status: 'ready', revision: 1 });
      expect(file?.revision).toBe(1);
      expect(await findProject(db, project.project_id)).toMatchObject({
        file_count: 1,
        storage_bytes: file?.size_bytes,
        reserved_bytes: 0,
      });
      const stored = await buckets.content.read(file?.object_key ?? '');
      expect(stored?.length).toBe(file?.size_bytes);
      const webhooks = await db.query(
        'select delivery_id from webhook_deliveries where project_id = $1',
        [project.project_id],
      );
      expect(webhooks).toEqual([{ delivery_id: `upload.ready:${upload.upload_id}` }]);
      const isGone = (await buckets.ingest.head(upload.ingest_key)) === undefined;
      const isDoomed = await db.query('select 1 from doomed_objects where object_key = $1', [
        upload.ingest_key,
      ]);
      expect(isGone || isDoomed.length === 1).toBe(true);
    },
  );

  it.runIf(process.platform === 'linux')('leaves no orphaned decoder behind', async () => {
    await expect.poll(orphanedDecoders).toEqual([]);
  });
});
