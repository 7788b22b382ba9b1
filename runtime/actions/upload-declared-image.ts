/**
 * Uploads an image that a resource declares: creates a session like a tenant's, writes the bytes to storage, and rings
 * the workers' doorbell. After a crash it continues the existing session. Spec: Upload session.
 */
import { sniffContentType } from '../core/image/formats.ts';
import type { Database } from '../db/client.ts';
import { insertDeclaredUpload, type UploadOwner } from '../db/declared-uploads.ts';
import { joinTransaction } from '../db/joined-transaction.ts';
import type { ProjectRow } from '../db/projects.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';
import { type CompleteUploadDeps, completeUpload } from './complete-upload.ts';
import { beginUpload, type CreateUploadDeps, createUpload } from './create-upload.ts';

export type DeclaredImageDeps = Omit<CreateUploadDeps, 'addresses'> & CompleteUploadDeps;

export type ImageBytes = { file_slug: string; bytes: Buffer; sha256: string };

export type DeclaredImage = ImageBytes & {
  project: ProjectRow;
  owner: UploadOwner;
  /** The unfinished session that an earlier call created for these bytes. */
  upload_id: string | undefined;
};

/** Every statement runs in a transaction of the given database: its owner may be fenced off. */
export async function uploadDeclaredImage(
  deps: DeclaredImageDeps,
  image: DeclaredImage,
): Promise<UploadRow> {
  const { bytes, upload_id } = image;
  const db = inTransactions(deps.db);
  const upload =
    (upload_id === undefined ? undefined : await findUpload(db, upload_id)) ??
    (await begin(deps, image));
  if (upload.status !== 'created') return upload;
  const { content_type, ingest_key } = upload;
  await deps.buckets.ingest.write(ingest_key, bytes, { content_type, size_bytes: bytes.length });
  return completeUpload({ ...deps, db }, upload);
}

// The bytes go directly to storage, so no addresses are needed.
const addresses = { baseUrl: '', uploadBaseUrl: '', uploadUrlKeys: [], proxyMaxBytes: 0 };

/** The type of bytes that are no image: refused like any other type, with the accepted ones. */
const NO_IMAGE = 'application/octet-stream';

/** The session that the first call requests. */
export function declaredUpload({ file_slug, bytes, sha256 }: ImageBytes) {
  const content_type = sniffContentType(bytes) ?? NO_IMAGE;
  return { content_type, size_bytes: bytes.length, file_slug, sha256 };
}

async function begin(deps: DeclaredImageDeps, image: DeclaredImage): Promise<UploadRow> {
  const { project, owner } = image;
  const asked = { project, input: { ...declaredUpload(image), mode: 'direct' as const } };
  // Before the transaction, which waits only for the database.
  const begun = await beginUpload({ ...deps, db: inTransactions(deps.db), addresses }, asked);
  return deps.db.transaction(async (tx) => {
    const through = { ...deps, db: joinTransaction(tx), addresses };
    const { upload } = await createUpload(through, asked, begun);
    await insertDeclaredUpload(tx, { ...owner, upload_id: upload.upload_id });
    return upload;
  });
}

function inTransactions(db: Database): Database {
  return { ...db, query: (text, values) => db.transaction((tx) => tx.query(text, values)) };
}
