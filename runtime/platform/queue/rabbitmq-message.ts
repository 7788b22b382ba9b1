/**
 * The wire format of a message: a line of JSON, then the raw bytes of its binary fields. Images travel in replies, and
 * base64 would cost a third more and a copy.
 */
import { z } from 'zod';

const VERSION = 1;
const LENGTH_BYTES = 4;

const head = z.object({
  version: z.literal(VERSION),
  value: z.json().optional(),
  binary: z.array(z.object({ field: z.string(), length: z.int().min(0) })),
});

/** Binary values are supported in the fields of the object, not deeper. */
export function printMessage(value: unknown): Buffer {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const binary = fields.filter((entry): entry is [string, Uint8Array] => isBytes(entry[1]));
  const plain = binary.length === 0 ? value : Object.fromEntries(fields.filter(isPlain));
  const text = Buffer.from(
    JSON.stringify({
      version: VERSION,
      value: plain,
      binary: binary.map(([field, bytes]) => ({ field, length: bytes.length })),
    }),
  );
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...binary.map(([, bytes]) => bytes)]);
}

/** Throws for anything that is not such a message. */
export function parseMessage(message: Buffer): unknown {
  const bodyStart = LENGTH_BYTES + message.readUInt32BE(0);
  const { value, binary } = head.parse(
    JSON.parse(message.toString('utf8', LENGTH_BYTES, bodyStart)),
  );
  const bytes = binary.reduce((total, { length }) => total + length, 0);
  if (message.length !== bodyStart + bytes) throw new Error('the message is not whole');
  if (binary.length === 0) return value;
  let start = bodyStart;
  const parts = binary.map(({ field, length }) => {
    start += length;
    return [field, message.subarray(start - length, start)] as const;
  });
  return { ...(value as object), ...Object.fromEntries(parts) };
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function isPlain([, value]: [string, unknown]): boolean {
  return !isBytes(value);
}
