/** Reads the sanitized images as stored. A published object that is missing is remembered as failed. */
import type { Readable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';
import type { Bucket } from '../platform/storage/bucket.ts';
import type { BodyRange } from './answer.ts';
import { createFailureMemory } from './failure-memory.ts';

export type Originals = {
  /** Throws when the object is missing or the storage is away. */
  open(objectKey: string, portion?: BodyRange): Promise<Readable>;
  /** Returns the object's size in bytes without opening it; throws like `open`. */
  check(objectKey: string): Promise<number>;
};

export function createOriginals({ content, clock }: { content: Bucket; clock: Clock }): Originals {
  const failures = createFailureMemory(clock);
  const find = async <Found>(key: string, look: (key: string) => Promise<Found | undefined>) => {
    failures.check(key);
    const found = await look(key);
    if (found !== undefined) return found;
    const failure = new Error(`${key} is published and is not stored`);
    failures.remember(key, failure);
    throw failure;
  };
  return {
    open: (key, portion = 'whole') =>
      find(key, () => (portion === 'whole' ? content.open(key) : content.open(key, portion))),
    check: async (key) => (await find(key, content.head)).size_bytes,
  };
}
