/**
 * Passes the stored object to the decoder and verifies it on the way, so that exactly the verified bytes are decoded.
 * The last bytes are held back until length and digest are right, so that a wrong object never becomes a complete job.
 * Spec: Upload session; Processing error codes.
 */
import { createHash } from 'node:crypto';
import { IngestRefusal } from './ingest-refusal.ts';

export type DeclaredObject = { size_bytes: number; sha256: string | null };
export type VerifiedChunks = {
  chunks: AsyncIterable<Uint8Array>;
  /** In hex; known once the chunks have ended. */
  digest(): string;
};

/**
 * `stored_sha256` is the digest of the bytes that were read, reported to the client who declared
 * another one.
 */
export class WrongDigest extends IngestRefusal {
  readonly stored_sha256: string;

  constructor(stored_sha256: string) {
    super('sha256_mismatch', stored_sha256);
    this.stored_sha256 = stored_sha256;
  }
}

export function verifiedChunks(
  object: AsyncIterable<Uint8Array>,
  declared: DeclaredObject,
): VerifiedChunks {
  let digest: string | undefined;
  const pass = async function* (): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    let length = 0;
    let held: Uint8Array | undefined;
    for await (const chunk of object) {
      if (chunk.byteLength === 0) continue;
      length += chunk.byteLength;
      if (length > declared.size_bytes) throw wrongSize(length, declared);
      hash.update(chunk);
      if (held !== undefined) yield held;
      held = chunk;
    }
    if (length !== declared.size_bytes) throw wrongSize(length, declared);
    digest = hash.digest('hex');
    if (declared.sha256 !== null && digest !== declared.sha256) {
      throw new WrongDigest(digest);
    }
    if (held !== undefined) yield held;
  };
  return {
    chunks: pass(),
    digest: () => {
      if (digest === undefined) throw new Error('the object was not read to its end');
      return digest;
    },
  };
}

function wrongSize(length: number, { size_bytes }: DeclaredObject): IngestRefusal {
  return new IngestRefusal('ingest_size_mismatch', `${length} bytes or more, not ${size_bytes}`);
}
