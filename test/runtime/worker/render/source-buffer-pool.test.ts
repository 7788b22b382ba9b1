import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSourceBufferPool } from '../../../../runtime/worker/render/source-buffer-pool.ts';

const MIB = 1024 * 1024;
const memoryOf = (bytes: Buffer) => bytes.buffer;

it('returned memory is reused by a source that fits into it', () => {
  const memory = createSourceBufferPool({ kept_max: 2 });
  const first = memory.acquire();
  const source = first.allocate(3 * MIB - 5);
  first.release();
  expect(memoryOf(memory.acquire().allocate(2 * MIB))).toBe(memoryOf(source));
});

it('a source that is too large for returned memory, or comes while it is borrowed, gets its own', () => {
  const memory = createSourceBufferPool({ kept_max: 2 });
  const [first, second] = [memory.acquire(), memory.acquire()];
  const source = first.allocate(MIB);
  expect(memoryOf(second.allocate(MIB))).not.toBe(memoryOf(source));
  first.release();
  expect(memoryOf(second.allocate(2 * MIB))).not.toBe(memoryOf(source));
});

it('only as many buffers as allowed are kept, and no huge ones', () => {
  const memory = createSourceBufferPool({ kept_max: 1 });
  const borrowed = [1, 2, 33].map((size) => {
    const one = memory.acquire();
    return { one, memory: memoryOf(one.allocate(size * MIB)) };
  });
  for (const { one } of borrowed) one.release();
  const again = memory.acquire();
  expect(memoryOf(again.allocate(MIB))).toBe(borrowed[1]?.memory);
  expect(borrowed.map((one) => one.memory)).not.toContain(memoryOf(again.allocate(MIB)));
});

it('the same memory is never lent to two borrowers at the same time', () => {
  const step = fc.record({ who: fc.nat(4), bytes: fc.nat(4 * MIB), ends: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const memory = createSourceBufferPool({ kept_max: 3 });
      const borrowers = Array.from({ length: 5 }, () => memory.acquire());
      const held = borrowers.map((): ArrayBufferLike[] => []);
      for (const { who, bytes, ends } of steps) {
        const place = borrowers[who]?.allocate(bytes) ?? expect.fail('nobody');
        expect(place.length).toBe(bytes);
        expect(held.flat()).not.toContain(memoryOf(place));
        held[who]?.push(memoryOf(place));
        if (!ends) continue;
        borrowers[who]?.release();
        held[who]?.splice(0);
      }
    }),
  );
});
