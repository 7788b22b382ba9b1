/**
 * What the service needs from an object store: one interface over a folder and over S3. A key is written once and its
 * bytes never change, except an upload's own key, which a signed PUT may overwrite until the URL expires.
 */
import type { Readable } from 'node:stream';
import type { ByteRange } from '../../core/delivery/byte-range.ts';
import { ServiceError } from '../../core/errors.ts';

export type Bucket = {
  head(key: string): Promise<ObjectHead | undefined>;
  /**
   * The bytes as a stream; undefined when there is no such object.
   */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /**
   * `place` provides a buffer of the given size; used by a bucket that knows the size before
   * reading.
   */
  read(key: string, place?: (sizeBytes: number) => Buffer): Promise<Buffer | undefined>;
  /**
   * Atomic: until it resolves the key holds its previous content, afterwards the whole new object.
   */
  write(key: string, body: Buffer | Readable, facts: ObjectFacts): Promise<ObjectHead>;
  /** Deleting a missing object is not an error. */
  delete(key: string): Promise<void>;
  /** In key order, beginning behind `after`. */
  list(options: { prefix: string; after?: string; limit: number }): Promise<ListedObject[]>;
  /** A URL that accepts exactly one content type and one length until it expires. */
  presignPut(key: string, signed: PutTerms): Promise<PresignedPut>;
  /** Begins an object that is uploaded in parts; returns the storage's own id for it. */
  createMultipart(key: string, facts: { content_type: string }): Promise<string>;
  /**
   * A URL that accepts one part of exactly this length until it expires; sending a part again
   * replaces it.
   */
  presignPart(key: string, part: PartTerms): Promise<{ url: string; expires_at: Date }>;
  /**
   * Joins the parts into one object. Throws MultipartRefused when the storage does not accept the
   * list. Whatever this call returns, only a later `head` shows whether the object exists.
   */
  completeMultipart(key: string, list: PartList): Promise<void>;
  /** Deletes the parts; does nothing for an unknown upload. */
  abortMultipart(key: string, uploadId: string): Promise<void>;
  /**
   * The uploads that were begun and neither completed nor aborted, in key order, beginning behind
   * `after`.
   */
  listMultiparts(options: {
    prefix: string;
    after?: string;
    limit: number;
  }): Promise<OpenMultipart[]>;
  /** Tests that objects can be written; throws StorageUnavailable when not. */
  check(): Promise<void>;
};

export type ObjectHead = { size_bytes: number; content_type: string | undefined; etag: string };
/**
 * A stream without a length may be buffered in memory first, so give the length when it is known.
 */
export type ObjectFacts = { content_type: string; size_bytes?: number };
export type ListedObject = { key: string; size_bytes: number; modified_at: Date };
export type PutTerms = { content_type: string; size_bytes: number; expires_in_seconds: number };
export type PresignedPut = { url: string; headers: Record<string, string>; expires_at: Date };

export type PartTerms = {
  upload_id: string;
  part_number: number;
  size_bytes: number;
  expires_in_seconds: number;
};
export type PartList = {
  upload_id: string;
  parts: readonly { part_number: number; etag: string }[];
};
export type OpenMultipart = { key: string; upload_id: string; started_at: Date };

/**
 * The two buckets of an installation: `ingest` receives what clients send, `content` keeps what is
 * served.
 */
export type Buckets = { ingest: Bucket; content: Bucket };

/** The store cannot be used; `advice` tells the operator in one line what to do. */
export class StorageUnavailable extends ServiceError {
  readonly advice: string;

  constructor(advice: string, cause?: unknown) {
    super('storage_unavailable', { cause: new Error(advice, { cause }) });
    this.advice = advice;
  }
}

/** The body did not have the announced length; nothing was stored. */
export class ObjectSizeMismatch extends Error {
  readonly actual: number;

  constructor(expected: number, actual: number) {
    super(`the body has ${actual} bytes, ${expected} were announced`);
    this.name = 'ObjectSizeMismatch';
    this.actual = actual;
  }
}

/**
 * The storage did not join the parts. `invalid_parts`: a part is missing, has another ETag or is
 * too small, and the client can correct the list. `multipart_complete_failed`: anything else,
 * including an unknown upload.
 */
export class MultipartRefused extends Error {
  readonly code: 'invalid_parts' | 'multipart_complete_failed';

  constructor(code: MultipartRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MultipartRefused';
    this.code = code;
  }
}

const KEY_CHARACTERS_MAX = 1024;
const KEY_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/**
 * Object keys are paths of plain segments: no traversal, no hidden names, nothing to escape in a
 * URL.
 */
export function isObjectKey(key: string): boolean {
  return key.length <= KEY_CHARACTERS_MAX && key.split('/').every((part) => KEY_SEGMENT.test(part));
}
