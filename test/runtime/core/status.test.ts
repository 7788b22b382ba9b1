// Spec: Public, status; Staff, incidents. An automatic incident: 3 failed samples open it, 5 good ones close it.
import { expect, it } from 'vitest';
import { incidentMove } from '../../../runtime/core/status.ts';

/**
 * Reads a character per minute from midnight: `x` is a failed sample, `.` a good one, a space none.
 * Returns the newest first.
 */
const samples = (text: string) =>
  [...text]
    .map((mark, minute) => ({ mark, minute }))
    .filter(({ mark }) => mark !== ' ')
    .map(({ mark, minute }) => ({
      ok: mark === '.',
      sampled_at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    }))
    .toReversed();

it.each([
  ['', 'none', undefined],
  ['xx', 'none', undefined],
  ['xx.', 'none', undefined],
  ['x.xx', 'none', undefined],
  ['..xxx', 'none', { move: 'open', minute: 2 }],
  ['xxxxx', 'none', { move: 'open', minute: 2 }],
  ['xx  x', 'none', { move: 'open', minute: 0 }],
  ['xx   x', 'none', undefined],
  ['xx   xxx', 'none', { move: 'open', minute: 5 }],
  ['xxx    .....', 'open', { move: 'close', minute: 7 }],
  ['xxx', 'open', undefined],
  ['xxx....', 'open', undefined],
  ['xxx..x..', 'open', undefined],
  ['xxx.....', 'open', { move: 'close', minute: 3 }],
  ['.......', 'open', { move: 'close', minute: 2 }],
] as const)(
  'incidentMove decides whether samples %s open or close an incident (now: %s)',
  (text, state, expected) => {
    const move = incidentMove(samples(text), state);
    const seen = move && { move: move.move, minute: move.at.getUTCMinutes() };
    expect(seen).toEqual(expected);
  },
);
