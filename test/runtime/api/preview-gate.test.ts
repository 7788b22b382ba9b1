// Spec: Staff previews.
import { expect, it } from 'vitest';
import { createPreviewGate } from '../../../runtime/api/preview-gate.ts';
import { PREVIEWS_WAITING_MAX } from '../../../runtime/core/limits.ts';

const stays = new AbortController().signal;

/** A gate whose only slot is taken until `free` is called. */
function takenGate() {
  const slot = Promise.withResolvers<void>();
  const gate = createPreviewGate();
  const first = gate(() => slot.promise, stays);
  return { gate, first, free: slot.resolve };
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

it('a preview canceled while it waits never starts and leaves its place to the next', async () => {
  const { gate, first, free } = takenGate();
  const leaving = new AbortController();
  let begun = 0;
  const work = async () => {
    begun += 1;
  };
  const waiting = Array.from({ length: PREVIEWS_WAITING_MAX }, () => gate(work, leaving.signal));
  expect(await codeOf(gate(work, stays))).toBe('preview_busy');
  leaving.abort();
  expect(new Set(await Promise.all(waiting.map(codeOf)))).toEqual(new Set(['preview_busy']));
  const next = gate(work, stays);
  free();
  await Promise.all([first, next]);
  expect(begun).toBe(1);
});

it('a preview canceled beforehand is rejected with preview_busy without waiting', async () => {
  const { gate, first, free } = takenGate();
  const left = AbortSignal.abort();
  expect(await codeOf(gate(async () => 'drawn', left))).toBe('preview_busy');
  free();
  await first;
});
