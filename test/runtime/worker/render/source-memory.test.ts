import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSourceMemory } from '../../../../runtime/worker/render/source-memory.ts';

const MIB = 1024 * 1024;
const memoryOf = (bytes: Buffer) => bytes.buffer;

it('returned memory is reused by a source that fits into it', () => {
  const memory = createSourceMemory({ kept_max: 2 });
  const first = memory.borrow();
  const source = first.place(3 * MIB - 5);
  first.giveBack();
  expect(memoryOf(memory.borrow().place(2 * MIB))).toBe(memoryOf(source));
});

it('a source that is too large for returned memory, or comes while it is borrowed, gets its own', () => {
  const memory = createSourceMemory({ kept_max: 2 });
  const [first, second] = [memory.borrow(), memory.borrow()];
  const source = first.place(MIB);
  expect(memoryOf(second.place(MIB))).not.toBe(memoryOf(source));
  first.giveBack();
  expect(memoryOf(second.place(2 * MIB))).not.toBe(memoryOf(source));
});

it('only as many buffers as allowed are kept, and no huge ones', () => {
  const memory = createSourceMemory({ kept_max: 1 });
  const borrowed = [1, 2, 33].map((size) => {
    const one = memory.borrow();
    return { one, memory: memoryOf(one.place(size * MIB)) };
  });
  for (const { one } of borrowed) one.giveBack();
  const again = memory.borrow();
  expect(memoryOf(again.place(MIB))).toBe(borrowed[1]?.memory);
  expect(borrowed.map((one) => one.memory)).not.toContain(memoryOf(again.place(MIB)));
});

it('the same memory is never lent to two borrowers at the same time', () => {
  const step = fc.record({ who: fc.nat(4), bytes: fc.nat(4 * MIB), ends: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const memory = createSourceMemory({ kept_max: 3 });
      const borrowers = Array.from({ length: 5 }, () => memory.borrow());
      const held = borrowers.map((): ArrayBufferLike[] => []);
      for (const { who, bytes, ends } of steps) {
        const place = borrowers[who]?.place(bytes) ?? expect.fail('nobody');
        expect(place.length).toBe(bytes);
        expect(held.flat()).not.toContain(memoryOf(place));
        held[who]?.push(memoryOf(place));
        if (!ends) continue;
        borrowers[who]?.giveBack();
        held[who]?.splice(0);
      }
    }),
  );
});
