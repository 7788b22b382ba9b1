/**
 * The protocol between parent and decoder: a frame is a length, a JSON head and binary parts whose lengths the head
 * states. The reader trusts nothing: any violation of the form or a bound throws.
 */
import { isRecord } from '../../core/json.ts';

export type Frame = { message: Record<string, unknown>; parts: Buffer[] };
export type FrameBounds = { part_bytes_max: number; parts_max: number };

/** A frame that an honest peer never sends. */
export class FrameError extends Error {
  override name = 'FrameError';
}

const PREFIX_BYTES = 4;
const HEAD_BYTES_MAX = 65_536;

/** The head of a frame; the raw parts follow it in order. */
export function printFrameHead(message: object, partLengths: readonly number[]): Buffer {
  const head = Buffer.from(JSON.stringify({ message, parts: partLengths }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(head.length);
  return Buffer.concat([prefix, head]);
}

/**
 * Yields frames until the source ends between two of them; `part_bytes_max` limits the sum of one
 * frame's parts.
 */
export async function* readFrames(
  source: AsyncIterable<Buffer>,
  bounds: FrameBounds,
): AsyncGenerator<Frame> {
  const take = byteTaker(source);
  for (;;) {
    const prefix = await take(PREFIX_BYTES);
    if (prefix === undefined) return;
    const headBytes = prefix.readUInt32BE();
    if (headBytes > HEAD_BYTES_MAX) throw new FrameError('a head is too long');
    const head = parseHead(await takeAll(take, headBytes), bounds);
    const parts: Buffer[] = [];
    for (const length of head.parts) parts.push(await takeAll(take, length));
    yield { message: head.message, parts };
  }
}

function parseHead(
  bytes: Buffer,
  bounds: FrameBounds,
): { message: Frame['message']; parts: number[] } {
  const head = parseJson(bytes);
  if (!isRecord(head) || !isRecord(head.message)) throw new FrameError('a head has no message');
  const { parts } = head;
  if (!Array.isArray(parts) || parts.length > bounds.parts_max || !parts.every(isLength)) {
    throw new FrameError('a head names no proper parts');
  }
  const total = parts.reduce((sum, length) => sum + length, 0);
  if (total > bounds.part_bytes_max) throw new FrameError('the parts are too long');
  return { message: head.message, parts };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new FrameError('a head is not JSON');
  }
}

function isLength(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

type Take = (length: number) => Promise<Buffer | undefined>;

async function takeAll(take: Take, length: number): Promise<Buffer> {
  const bytes = length === 0 ? Buffer.alloc(0) : await take(length);
  if (bytes === undefined) throw new FrameError('the stream ended inside a frame');
  return bytes;
}

/** Takes exactly this many bytes; undefined when the source ends before the first of them. */
function byteTaker(source: AsyncIterable<Buffer>): Take {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return async (length) => {
    const taken = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) break;
        rest = next.value;
      }
      const copied = rest.copy(taken, filled);
      rest = rest.subarray(copied);
      filled += copied;
    }
    if (filled === 0) return undefined;
    if (filled < length) throw new FrameError('the stream ended inside a frame');
    return taken;
  };
}
