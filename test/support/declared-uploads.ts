/** Uploads of declared images, and the worker's part in them. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { claimUpload } from '../../runtime/db/claim-upload.ts';
import type { Database } from '../../runtime/db/client.ts';
import type { UploadRow } from '../../runtime/db/uploads.ts';
import { must, publish } from './rows.ts';
import { until } from './until.ts';

export function listUploads(db: Database, name: string) {
  return db.query<{ upload_id: string; status: string; sha256: string; ingest_key: string }>(
    'select * from uploads where file_slug = $1 order by created_at',
    [name],
  );
}

/** Claims the arrived upload as a worker does. */
export async function claimDeclared(db: Database, name: string): Promise<UploadRow> {
  await until(async () => expect((await listUploads(db, name)).at(-1)?.status).toBe('uploaded'));
  const { upload_id } = must((await listUploads(db, name)).at(-1));
  return must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
}

/** Processes an arrived upload as a worker does. */
export async function ingestDeclared(db: Database, name: string, bytes: Buffer): Promise<void> {
  const source_sha256 = createHash('sha256').update(bytes).digest('hex');
  await publish(db, await claimDeclared(db, name), { source_sha256 });
}
