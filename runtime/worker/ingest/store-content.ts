/**
 * Stores the results of sanitizing in the content bucket, under keys unique to this upload and attempt, so that nothing
 * stored is ever overwritten. Publishing makes them visible later.
 */
import { createHash } from 'node:crypto';
import { findFormat } from '../../core/image/formats.ts';
import type { MezzanineEntry, RevisionFacts } from '../../db/files.ts';
import type { Attempt } from '../../db/upload-processing.ts';
import type { Failpoint } from '../../platform/failpoint.ts';
import type { Buckets } from '../../platform/storage/bucket.ts';
import { mastersOf } from '../../platform/storage/content-keys.ts';
import type { IngestResult } from './ingest-result.ts';

export type StoredContent = Pick<
  RevisionFacts,
  'object_key' | 'sha256' | 'size_bytes' | 'mezzanines' | 'raw_object_key' | 'metadata'
>;

const BLOCK_TYPE = 'application/octet-stream';

export async function storeContent(
  { buckets, failpoint }: { buckets: Pick<Buckets, 'content'>; failpoint?: Failpoint },
  upload: Attempt & { project_id: string },
  result: IngestResult,
): Promise<StoredContent> {
  const begin = `${mastersOf(upload)}${upload.attempt}`;
  const write = async (name: string, bytes: Buffer, contentType: string) => {
    const key = `${begin}-${name}${extensionOf(contentType)}`;
    await buckets.content.write(key, bytes, {
      content_type: contentType,
      size_bytes: bytes.length,
    });
    return key;
  };
  const sha256 = createHash('sha256').update(result.master).digest('hex');
  const object_key = await write(sha256, result.master, result.content_type);
  await failpoint?.('ingest.master_written');
  const raw_object_key =
    result.native === null ? null : await write('native', result.native, result.content_type);
  const metadata: Record<string, string> = {};
  for (const [kind, block] of Object.entries(result.metadata)) {
    metadata[kind] = await write(kind, block, BLOCK_TYPE);
  }
  const mezzanines: MezzanineEntry[] = [];
  for (const { bytes, ...facts } of result.mezzanines) {
    const key = await write(`${facts.long_edge}`, bytes, facts.content_type);
    mezzanines.push({ ...facts, object_key: key, size_bytes: bytes.length });
  }
  await failpoint?.('ingest.mezzanines_written');
  const size_bytes = result.master.length;
  return { object_key, sha256, size_bytes, mezzanines, raw_object_key, metadata };
}

function extensionOf(contentType: string): string {
  const format = findFormat(contentType);
  return format === undefined ? '' : `.${format.extension}`;
}
