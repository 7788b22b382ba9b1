/** Lists the uploads of declared images, and processes them like a worker. */
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

/** Waits until the upload has arrived, and claims it like a worker. */
export async function claimDeclared(db: Database, name: string): Promise<UploadRow> {
  await until(async () => expect((await listUploads(db, name)).at(-1)?.status).toBe('uploaded'));
  const { upload_id } = must((await listUploads(db, name)).at(-1));
  return must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
}

/** Waits until the upload has arrived, and publishes it like a worker. */
export async function ingestDeclared(db: Database, name: string, bytes: Buffer): Promise<void> {
  const source_sha256 = createHash('sha256').update(bytes).digest('hex');
  await publish(db, await claimDeclared(db, name), { source_sha256 });
}
