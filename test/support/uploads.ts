/** Creates uploads whose bytes have arrived, ready for a worker. */
import type { Database } from '../../runtime/db/client.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import {
  findUpload,
  type NewUpload,
  type UploadRow,
  updateUploadUploaded,
} from '../../runtime/db/uploads.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { makeUpload } from './rows.ts';

export async function arrive(
  { db, buckets }: { db: Database; buckets: Buckets },
  project: Pick<ProjectRow, 'project_id'>,
  arrival: { bytes: Buffer } & Partial<NewUpload>,
): Promise<UploadRow> {
  const { bytes, ...settings } = arrival;
  const upload = await makeUpload(db, project, {
    content_type: 'image/jpeg',
    size_bytes: bytes.length,
    ...settings,
  });
  await buckets.ingest.write(upload.ingest_key, bytes, { content_type: upload.content_type });
  await updateUploadUploaded(db, upload.upload_id);
  return upload;
}

export async function uploadAsItIs(db: Database, { upload_id }: UploadRow): Promise<UploadRow> {
  const upload = await findUpload(db, upload_id);
  if (upload === undefined) throw new Error('the upload is gone');
  return upload;
}
