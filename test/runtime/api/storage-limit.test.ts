// Spec: Uploads (POST), 403 storage_quota_exceeded; States and transitions, Upload session. The storage limit of a
// project with two API servers that share only the database and storage.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../../../runtime/api/app.ts';
import { createApiServer } from '../../../runtime/api/server.ts';
import type { ProjectRecord } from '../../../runtime/core/resources/project.ts';
import type { UploadRecord } from '../../../runtime/core/resources/upload.ts';
import { createDatabase, type Database } from '../../../runtime/db/client.ts';
import { findUpload } from '../../../runtime/db/uploads.ts';
import { uploadSweep } from '../../../runtime/jobs/upload-sweep.ts';
import { noCdn } from '../../../runtime/platform/cdn/cdn.ts';
import {
  apiClient,
  type Caller,
  codeOf,
  createKey,
  createProject,
  newSubject,
} from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { closeHttp } from '../../support/close-http.ts';
import { must } from '../../support/rows.ts';

/** The smallest size of an upload in two parts. */
const SIZE_BYTES = 10 * 2 ** 20;
const MODES = [{}, { parts: 2 }, { mode: 'proxy' }] as const;

const api = useApi();
const owner = api.session(newSubject());
const databases: Database[] = [];
const servers: Server[] = [];
let project: ProjectRecord;
let path: string;
let callers: Caller[];

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
  const limit = { storage_hard_limit_bytes: 10 * SIZE_BYTES };
  const limited = await api.session(STAFF_SUBJECT)('PATCH', path, limit);
  expect(limited.status, limited.text).toBe(200);
  const key = await createKey(owner, project.project_slug, ['files:write', 'files:read']);
  callers = [await startAnother(key), await startAnother(key)];
});
afterAll(async () => {
  for (const server of servers) {
    await closeHttp(server);
  }
  await Promise.all(databases.map((db) => db.close()));
});

it('the storage limit holds for 100 concurrent uploads on two servers, and ended uploads free it', async () => {
  const made = await createHundred();
  expect(await reserved()).toBe(10 * SIZE_BYTES);

  const [aborted, expired, failed] = [made.slice(0, 3), made.slice(3, 6), made.slice(6)];
  for (const { upload_id } of aborted) {
    expect(codeOf(await owner('POST', `${path}/uploads/${upload_id}/abort`))).toBe('200');
  }
  expect(await reserved()).toBe(7 * SIZE_BYTES);
  await lapse(expired);
  expect(await reserved()).toBe(4 * SIZE_BYTES);
  for (const { upload_id } of failed) await storeShort(upload_id);
  await lapse(failed);
  expect(await reserved()).toBe(0);

  const { items } = (await owner('GET', `${path}/uploads`)).body;
  const ends = new Set(items.map((one: UploadRecord) => `${one.status} ${one.error_code}`));
  expect(ends).toContain('expired session_expired');
  await createHundred();
  expect(await reserved()).toBe(10 * SIZE_BYTES);
});

async function startAnother(key: string): Promise<Caller> {
  // A hundred requests wait for the lock of one row, which takes long on a slow machine.
  const patience = { connectTimeoutMs: 60_000, queryTimeoutMs: 60_000 };
  const db = createDatabase({ url: api.databaseUrl(), ...patience });
  databases.push(db);
  const usual = api.deps();
  const app = createApi({
    ...usual,
    db,
    addresses: { ...usual.addresses, proxyMaxBytes: 2 * SIZE_BYTES },
    settings: { ...usual.settings, ingestMaxBytes: 2 * SIZE_BYTES },
  });
  const server = createApiServer(app, { ...usual, baseUrl: usual.addresses.baseUrl });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return apiClient({ baseUrl: `http://127.0.0.1:${port}`, provider: undefined }).withKey(key);
}

/** Creates a hundred uploads concurrently: exactly ten fit, and the others are rejected. */
async function createHundred(): Promise<UploadRecord[]> {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) => {
      const input = { content_type: 'image/png', size_bytes: SIZE_BYTES, ...MODES[at % 3] };
      return must(callers[at % 2])('POST', `${path}/uploads`, input);
    }),
  );
  expect(answers.map(codeOf).toSorted()).toEqual([
    ...Array(10).fill('201'),
    ...Array(90).fill('403 storage_quota_exceeded'),
  ]);
  return answers.filter(({ status }) => status === 201).map(({ body }) => body);
}

async function storeShort(uploadId: string): Promise<void> {
  const { ingest_key } = must(await findUpload(api.db, uploadId));
  const short = Buffer.from('short');
  await api.deps().buckets.ingest.write(ingest_key, short, { content_type: 'image/png' });
}

/** Expires the uploads and runs the sweep. */
async function lapse(uploads: readonly UploadRecord[]): Promise<void> {
  await api.db.query(
    `update uploads set expires_at = now() - interval '1 hour', created_at = created_at - interval '1 day'
     where upload_id = any($1)`,
    [uploads.map(({ upload_id }) => upload_id)],
  );
  const { db, buckets, queue, clock, log } = api.deps();
  const deps = { db, buckets, queue, clock, log, cdn: noCdn };
  const signal = new AbortController().signal;
  await uploadSweep({ ...deps, at: clock.now(), run: 'test', signal });
}

async function reserved(): Promise<number> {
  const query = 'select reserved_bytes from projects where project_id = $1';
  const [row] = await api.db.query<{ reserved_bytes: number }>(query, [project.project_id]);
  return must(row).reserved_bytes;
}
