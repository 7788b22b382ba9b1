// The audit log entries for the end of an upload. Spec: Upload session (status).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../../runtime/db/projects.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { ingestUpload } from '../../../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { useDatabase } from '../../../support/database.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { over, photograph } from '../../../support/pictures.ts';
import { makeProject } from '../../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../../support/uploads.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const { buckets } = storage;
const log = createLog({ level: 'silent', name: 'test' });
let sandbox: Sandbox;
let project: ProjectRow;
let bytes: Buffer;

beforeAll(async () => {
  const limits = { wall_clock_ms: 30_000, memory_bytes: 2e9 };
  sandbox = createSandbox({ slots: 1, jobs_per_child: 100, log, ...limits });
  bytes = await over(photograph(120, 80)).jpeg().toBuffer();
});
afterAll(async () => {
  await sandbox.close();
  storage.remove();
});
beforeEach(async () => {
  project = await makeProject(db);
});

const ingest = (uploadId: string) =>
  ingestUpload(
    { db, buckets, sandbox, clock: systemClock, log, ingest_bytes_max: 250_000_000 },
    uploadId,
  );

/** The system is the actor, no matter who created the upload. */
const bySystem = { actor_kind: 'system', actor_id: null, before: null, request_id: null };
const audited = () => auditEntries(db, project, 'file.%', 'upload.%');

describe('the audit log of a project', () => {
  it('records each revision of a file with the upload it came from', async () => {
    const uploads = [];
    for (const _ of [1, 2]) {
      const upload = await arrive({ db, buckets }, project, { bytes, file_slug: 'hero' });
      await ingest(upload.upload_id);
      uploads.push(await uploadAsItIs(db, upload));
    }
    const published = uploads.map(({ upload_id, file_id }, index) => ({
      ...bySystem,
      action: 'file.publish',
      target: file_id,
      after: { upload_id, file_slug: 'hero', revision: index + 1 },
    }));
    expect(await audited()).toEqual(published);
  });

  it('records a failed upload with its error code', async () => {
    const upload = await arrive({ db, buckets }, project, { bytes: bytes.subarray(0, 500) });
    await ingest(upload.upload_id);
    expect(await audited()).toEqual([
      {
        ...bySystem,
        action: 'upload.fail',
        target: upload.upload_id,
        after: { error_code: 'decode_failed', attempt: 1 },
      },
    ]);
  });
});
