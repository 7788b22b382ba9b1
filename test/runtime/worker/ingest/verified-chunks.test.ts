// Spec: Upload session; Processing error codes (ingest_size_mismatch, sha256_mismatch).
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeclaredObject,
  verifiedChunks,
  WrongDigest,
} from '../../../../runtime/worker/ingest/verified-chunks.ts';

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** The bytes of an object, in the pieces in which they arrive. */
const pieces = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 });

async function* arriving(object: readonly Uint8Array[]) {
  yield* object;
}

/** What a decoder gets, and how the object ended. */
async function passed(object: readonly Uint8Array[], declared: DeclaredObject) {
  const { chunks, digest } = verifiedChunks(arriving(object), declared);
  const got: Uint8Array[] = [];
  try {
    for await (const chunk of chunks) got.push(chunk);
    return { bytes: Buffer.concat(got), digest: digest(), error: undefined };
  } catch (error) {
    return { bytes: Buffer.concat(got), digest: undefined, error };
  }
}

describe('the bytes of an upload on their way to the decoder', () => {
  it('are complete if length and digest are as declared, in whatever pieces they arrive', () =>
    fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), async (object, isHashed) => {
        const bytes = Buffer.concat(object);
        const sha256 = isHashed ? hashOf(bytes) : null;
        const end = await passed(object, { size_bytes: bytes.length, sha256 });
        expect(end).toEqual({ bytes, digest: hashOf(bytes), error: undefined });
      }),
    ));

  it('are never complete if the digest is another: the last ones are held back', () =>
    fc.assert(
      fc.asyncProperty(pieces, async (object) => {
        const bytes = Buffer.concat(object);
        fc.pre(bytes.length > 0);
        const sha256 = hashOf(Buffer.from('another'));
        const end = await passed(object, { size_bytes: bytes.length, sha256 });
        expect(end.error).toBeInstanceOf(WrongDigest);
        expect(end.error).toMatchObject({ stored_sha256: hashOf(bytes) });
        expect(end.bytes.length).toBeLessThan(bytes.length);
      }),
    ));

  it('are never as many as declared if the object is longer or shorter', () =>
    fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 40 }), async (object, size_bytes) => {
        const bytes = Buffer.concat(object);
        fc.pre(bytes.length !== size_bytes);
        const end = await passed(object, { size_bytes, sha256: null });
        expect(end.error).toMatchObject({ code: 'ingest_size_mismatch' });
        expect(end.bytes.length).toBeLessThan(size_bytes);
        expect(end.bytes).toEqual(bytes.subarray(0, end.bytes.length));
      }),
    ));

  it('have no digest before they have ended', () => {
    const { digest } = verifiedChunks(arriving([]), { size_bytes: 1, sha256: null });
    expect(digest).toThrow('not read to its end');
  });
});
