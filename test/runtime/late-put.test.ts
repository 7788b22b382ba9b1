// Spec: Upload session (status). A signed URL cannot be revoked: bytes that arrive after their upload has ended create
// no file, count nowhere and are deleted, with both storages.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UploadRecord } from '../../runtime/core/resources/upload.ts';
import { signStorageEvent } from '../../runtime/core/signing/storage-event.ts';
import { updateUploadExpired } from '../../runtime/db/upload-ends.ts';
import { type UploadRow, updateUploadUploaded } from '../../runtime/db/uploads.ts';
import { uploadSweep } from '../../runtime/jobs/upload-sweep.ts';
import { noCdn } from '../../runtime/platform/cdn/cdn.ts';
import { ingestUpload } from '../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { codeOf } from '../support/api-client.ts';
import { STORAGE_EVENT_SECRET } from '../support/api-server.ts';
import { over, photograph } from '../support/pictures.ts';
import { useS3Ingest } from '../support/s3-ingest.ts';
import { LARGE, useUploads } from '../support/upload-refusals.ts';

const uploads = useUploads();
const { api, at, home, make, owner, rowOf } = uploads;
const HOURS_MS = 2 * 3_600_000;
let bytes: Buffer;
let sandbox: Sandbox;
const s3Ingest = useS3Ingest();

beforeAll(async () => {
  bytes = await over(photograph(40, 30)).png().toBuffer();
  const { log } = api.deps();
  const memory_bytes = 1_000_000_000;
  sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 60_000,
    memory_bytes,
    jobs_per_child: 9,
    log,
  });
});
afterAll(() => sandbox.close());

const put = async ({ direct }: UploadRecord) => {
  const headers = { 'content-type': direct?.headers['content-type'] ?? '' };
  const body = new Uint8Array(bytes);
  return (await fetch(direct?.put_url ?? '', { method: 'PUT', body, headers })).status;
};

describe.each([
  ['folder storage', () => api.deps().buckets.ingest],
  ['versitygw', s3Ingest],
] as const)('late bytes on %s', (_name, bucketOf) => {
  const begin = (input: object) => {
    const buckets = { ...api.deps().buckets, ingest: bucketOf() };
    api.change({ buckets, settings: { ingestMaxBytes: 20_000_000 } });
    return make(input);
  };
  const isThere = async (row: UploadRow) => (await bucketOf().head(row.ingest_key)) !== undefined;
  const sweep = (later = 0) => {
    const { db, log, queue, buckets } = api.deps();
    const clock = { now: () => new Date(Date.now() + later) };
    const deps = { db, clock, log, queue, cdn: noCdn, buckets: { ...buckets, ingest: bucketOf() } };
    const { signal } = new AbortController();
    return uploadSweep({ ...deps, at: clock.now(), run: 'test', signal });
  };
  const process = async ({ upload_id }: UploadRecord) => {
    await updateUploadUploaded(api.db, upload_id);
    const { db, clock, log, buckets } = api.deps();
    const deps = { db, clock, log, sandbox, buckets: { ...buckets, ingest: bucketOf() } };
    return ingestUpload({ ...deps, ingest_bytes_max: 1e9 }, upload_id);
  };

  const ends: Record<string, (upload: UploadRecord) => Promise<unknown>> = {
    aborted: (upload) => at(upload, 'abort'),
    expired: async ({ upload_id }) => {
      await api.db.query('update uploads set expires_at = now() where upload_id = $1', [upload_id]);
      await api.db.transaction((tx) => updateUploadExpired(tx, upload_id));
    },
    failed: (upload) => process(upload),
    ready: async (upload) => {
      expect(await put(upload)).toBe(200);
      await process(upload);
    },
  };

  it.each(Object.entries(ends))(
    'that arrive for an upload that is %s change nothing, and are deleted',
    async (_how, end) => {
      const upload = await begin({ size_bytes: bytes.length });
      await end(upload);
      const before = await lookAt(upload);
      expect(await put(upload)).toBe(200);
      await tell(upload);
      await at(upload, 'complete');
      await sweep();
      expect(await lookAt(upload)).toEqual(before);
      const row = await rowOf(upload);
      await api.db.query('update doomed_objects set delete_after = now() where object_key = $1', [
        row.ingest_key,
      ]);
      await sweep();
      expect(await isThere(row)).toBe(false);
    },
  );

  it('that arrive after the scheduled deletion are deleted by a later sweep', async () => {
    const upload = await begin({ size_bytes: bytes.length });
    await at(upload, 'abort');
    await api.db.query('update doomed_objects set delete_after = now()');
    await sweep();
    expect(await put(upload)).toBe(200);
    const row = await rowOf(upload);
    await sweep();
    expect(await isThere(row)).toBe(true);
    expect((await sweep(HOURS_MS))['left_behind']).toBeGreaterThan(0);
    expect(await isThere(row)).toBe(false);
    expect(codeOf(await at(upload, 'complete'))).toBe('410 upload_expired');
  });

  it('of a part are rejected once the upload is aborted, and leave nothing behind', async () => {
    const upload = await begin(LARGE);
    await at(upload, 'abort');
    const { parts = [], part_size = 0 } = upload.multipart ?? {};
    const body = new Uint8Array(part_size);
    const late = fetch(parts[0]?.url ?? '', { method: 'PUT', body }).then(({ status }) => status);
    // Storage may reset the connection during the upload, instead of reading on and answering.
    expect(await late.catch(() => 404)).toBe(404);
    const { ingest_key } = await rowOf(upload);
    expect(await bucketOf().listMultiparts({ prefix: ingest_key, limit: 1 })).toEqual([]);
  });
});

/** What callers see of an upload, and what its project counts. */
async function lookAt({ upload_id }: UploadRecord) {
  const [session, project, files] = await Promise.all([
    owner('GET', `${home.path}/uploads/${upload_id}`),
    owner('GET', home.path),
    owner('GET', `${home.path}/files`),
  ]);
  const { storage_bytes, file_count } = project.body;
  const reserved = await api.db.query('select reserved_bytes from projects order by project_id');
  return { session: session.body, files: files.body, storage_bytes, file_count, reserved };
}

/** Sends the event that storage sends for every new object. */
async function tell(upload: UploadRecord): Promise<void> {
  const { ingest_key } = await rowOf(upload);
  const raw = JSON.stringify({ events: [{ event: 'ObjectCreated:Put', key: ingest_key }] });
  const signature = signStorageEvent(STORAGE_EVENT_SECRET, Buffer.from(raw));
  const headers = { 'x-storage-event-notification-signature': signature };
  const sent = { method: 'POST', path: '/v1/internal/storage-events', raw, headers };
  expect((await api.send(sent)).status).toBe(200);
}
