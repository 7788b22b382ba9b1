// Which bytes of an image a GET asks for. RFC 9110, Range and If-Range: a single range of bytes is honored; several
// ranges, another unit or anything malformed mean the whole image, as a server may choose. Spec: Delivery host.

/** Bytes `start` to `end`, both inclusive. */
export type ByteRange = { readonly start: number; readonly end: number };

/** `beyond`: no byte of the range exists; the answer is 416. */
export type WantedBytes = 'whole' | 'beyond' | ByteRange;

/**
 * The headers as received; `etag` is null when the image has none, so that no If-Range can match.
 */
export function readWantedBytes(
  {
    range,
    ifRange,
  }: { readonly range?: string | undefined; readonly ifRange?: string | undefined },
  { size_bytes, etag }: { readonly size_bytes: number; readonly etag: string | null },
): WantedBytes {
  const match = SINGLE_RANGE.exec(range ?? '');
  if (match === null || !(ifRange === undefined || ifRange === etag)) return 'whole';
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? 'whole' : lastBytes(Number(last), size_bytes);
  const start = Number(first);
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return 'whole';
  return start < size_bytes ? { start, end: Math.min(end, size_bytes - 1) } : 'beyond';
}

/** The Content-Range of a 206, or of a 416. */
export function printContentRange(wanted: ByteRange | 'beyond', sizeBytes: number): string {
  const bytes = wanted === 'beyond' ? '*' : `${wanted.start}-${wanted.end}`;
  return `bytes ${bytes}/${sizeBytes}`;
}

const SINGLE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

function lastBytes(count: number, size: number): WantedBytes {
  if (count === 0 || size === 0) return 'beyond';
  return { start: Math.max(0, size - count), end: size - 1 };
}
