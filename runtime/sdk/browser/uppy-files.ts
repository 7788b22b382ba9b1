/** The parts of Uppy that are used, and the conversion of its files and parts. Spec: Upload helper constants. */
import { HELPER_PART_BYTES_DEFAULT, HELPER_SINGLE_PUT_BYTES_MAX } from '../../core/limits.ts';
import type { FileFacts, SentPart, UploadedFile } from '../protocol.ts';
import { describeFile, findSame, type StoredFile, type StoredUpload } from './resume-store.ts';

/** The fields of an Uppy file that are used. */
export type UppyFile = {
  readonly id: string;
  readonly name?: string;
  readonly type?: string;
  readonly size: number | null;
  readonly data?: unknown;
  readonly error?: unknown;
};
export type Part = { PartNumber?: number; ETag?: string };
/** Uppy stores the token of the upload as `key`. */
export type Keyed = { key: string; signal?: AbortSignal };

/** The methods of Uppy that are called. */
export type UppyCore = {
  on(
    event: 's3-multipart:part-uploaded',
    note: (file: { id: string }, part: { PartNumber: number; ETag: string }) => void,
  ): unknown;
  on(event: 'file-removed', note: (file: { id: string }) => void): unknown;
  addPreProcessor(work: (ids: string[]) => Promise<void>): void;
  addPostProcessor(work: (ids: string[]) => Promise<void>): void;
  getFile(id: string): UppyFile | undefined;
  getFiles(): readonly UppyFile[];
  setState(state: { readonly error: null }): void;
  setFileState(id: string, state: object): void;
  setFileMeta(id: string, meta: { tintype: UploadedFile }): void;
  emit(event: 'upload-error', file: { readonly id: string } | undefined, error: Error): unknown;
  emit(
    event: 'upload-success',
    file: { readonly id: string } | undefined,
    answer: UppyAnswer,
  ): unknown;
};

type UppyAnswer = { readonly status: number; readonly uploadURL: string };

export function factsOf({ name = 'image', type = '', size }: UppyFile): FileFacts {
  return { name, content_type: type, size_bytes: size ?? 0 };
}

export function describe({ data, name = 'image', type = '' }: UppyFile): Promise<StoredFile> {
  const bytes = data instanceof Blob ? [data] : [];
  const lastModified = data instanceof File ? data.lastModified : 0;
  return describeFile(new File(bytes, name, { type, lastModified }));
}

/**
 * The stored upload of this file under these terms, if any. Undefined for a file that can no longer
 * be read: it fails later, on its own.
 */
export async function findKept(
  terms: Parameters<typeof findSame>[0],
  file: UppyFile,
): Promise<StoredUpload | undefined> {
  const described = await describe(file).catch(() => undefined);
  const upload = described && (await findSame(terms, described));
  return upload?.part_size === partSizeOf(file) ? upload : undefined;
}

export function isInParts({ size }: UppyFile): boolean {
  return (size ?? 0) > HELPER_SINGLE_PUT_BYTES_MAX;
}

/** The session's part size, with which the URLs are signed: equal parts of at most 8 MiB. */
export function partSizeOf({ size }: { readonly size: number | null }): number {
  const bytes = size ?? 0;
  return Math.ceil(bytes / Math.ceil(bytes / HELPER_PART_BYTES_DEFAULT));
}

export function asUppys({ part_number, etag }: SentPart): Part {
  return { PartNumber: part_number, ETag: etag };
}

export function asSent({ PartNumber = 0, ETag = '' }: Part): SentPart {
  return { part_number: PartNumber, etag: ETag };
}
