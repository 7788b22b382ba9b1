// Two programs that revert each other's changes to an object.
import { expect, it } from 'vitest';
import { createRevertedWrites } from '../../../operator/kube/reverted-writes.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';

function reverting(undone_after_ms: number) {
  const clock = createManualTimedClock();
  const reverts = createRevertedWrites(clock);
  return {
    ...{ clock, reverts },
    /**
     * Written, reverted, and written again as soon as allowed. Returns the wait in seconds, and
     * whether this counts as repeated.
     */
    turn: (wanted = 'a') => {
      reverts.recordWrite('Deployment main-api', wanted);
      clock.advance(undone_after_ms);
      const { retry_after_ms, isRepeated } = reverts.recordRevert('Deployment main-api', wanted);
      clock.advance(retry_after_ms);
      expect(reverts.recordRevert('Deployment main-api', wanted).retry_after_ms).toBe(0);
      return [retry_after_ms / 1000, isRepeated];
    },
  };
}

it('an object that is changed back each time rests twice as long each time, up to 5 minutes', () => {
  const { turn } = reverting(200);
  const turns = Array.from({ length: 12 }, () => turn());
  expect(turns.map(([seconds]) => seconds)).toEqual([
    ...[0, 1, 2, 4, 8, 16, 32, 64, 128, 256],
    ...[300, 300],
  ]);
  expect(turns.map(([, isTold]) => isTold)).toEqual([false, false, ...Array(10).fill(true)]);
});

it('the rest starts over if the object was left alone for a while or is written differently', () => {
  const { turn, clock, reverts } = reverting(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  expect(turn('b')).toEqual([0, false]);
  for (let turns = 0; turns < 6; turns += 1) turn('b');
  reverts.recordWrite('Deployment main-api', 'b');
  clock.advance(600_000);
  expect(reverts.recordRevert('Deployment main-api', 'b')).toEqual({
    retry_after_ms: 0,
    isRepeated: false,
  });
});

it('a change long after the object had settled is reverted immediately', () => {
  const { turn, clock, reverts } = reverting(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  reverts.recordInSync('Deployment main-api');
  clock.advance(600_000);
  expect(reverts.recordRevert('Deployment main-api', 'a')).toEqual({
    retry_after_ms: 0,
    isRepeated: false,
  });
});

it('a change long after the last one is reverted immediately, even if nobody saw the object settle', () => {
  const { turn, clock, reverts } = reverting(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  clock.advance(600_000);
  expect(reverts.recordRevert('Deployment main-api', 'a')).toEqual({
    retry_after_ms: 0,
    isRepeated: false,
  });
});

it('forgetting an object ends its delay and its count of reverts', () => {
  const { turn, reverts } = reverting(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  reverts.forget('Deployment main-api');
  expect(reverts.recordRevert('Deployment main-api', 'a')).toEqual({
    retry_after_ms: 0,
    isRepeated: false,
  });
});

it('an object that is changed back slowly counts as reverted for twice the time between two changes', () => {
  const { turn, clock, reverts } = reverting(120_000);
  const key = 'Deployment main-api';
  for (let turns = 0; turns < 2; turns += 1) turn();
  reverts.setMessage(key, 'too early');
  expect(reverts.findActive(key)).toBeUndefined();
  turn();
  reverts.setMessage(key, 'somebody changes it');
  reverts.recordWrite(key, 'a');
  reverts.recordInSync(key);
  clock.advance(239_000);
  expect(reverts.findActive(key)).toEqual({
    message: 'somebody changes it',
    retry_after_ms: 1_000,
  });
  clock.advance(1_000);
  expect(reverts.findActive(key)).toBeUndefined();
});
