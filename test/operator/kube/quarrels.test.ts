// Two programs that revert each other's changes to an object.
import { expect, it } from 'vitest';
import { createQuarrels } from '../../../operator/kube/quarrels.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';

function quarrel(undone_after_ms: number) {
  const clock = createManualTimedClock();
  const quarrels = createQuarrels(clock);
  return {
    ...{ clock, quarrels },
    /**
     * Written, reverted, and written again as soon as allowed. Returns the wait in seconds, and
     * whether this counts as a quarrel.
     */
    turn: (wanted = 'a') => {
      quarrels.wrote('Deployment main-api', wanted);
      clock.advance(undone_after_ms);
      const { rest_ms, isQuarrel } = quarrels.undone('Deployment main-api', wanted);
      clock.advance(rest_ms);
      expect(quarrels.undone('Deployment main-api', wanted).rest_ms).toBe(0);
      return [rest_ms / 1000, isQuarrel];
    },
  };
}

it('an object that is changed back each time rests twice as long each time, up to 5 minutes', () => {
  const { turn } = quarrel(200);
  const turns = Array.from({ length: 12 }, () => turn());
  expect(turns.map(([seconds]) => seconds)).toEqual([
    ...[0, 1, 2, 4, 8, 16, 32, 64, 128, 256],
    ...[300, 300],
  ]);
  expect(turns.map(([, isTold]) => isTold)).toEqual([false, false, ...Array(10).fill(true)]);
});

it('the rest starts over if the object was left alone for a while or is written differently', () => {
  const { turn, clock, quarrels } = quarrel(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  expect(turn('b')).toEqual([0, false]);
  for (let turns = 0; turns < 6; turns += 1) turn('b');
  quarrels.wrote('Deployment main-api', 'b');
  clock.advance(600_000);
  expect(quarrels.undone('Deployment main-api', 'b')).toEqual({ rest_ms: 0, isQuarrel: false });
});

it('a change long after the object had settled is reverted immediately', () => {
  const { turn, clock, quarrels } = quarrel(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  quarrels.settled('Deployment main-api');
  clock.advance(600_000);
  expect(quarrels.undone('Deployment main-api', 'a')).toEqual({ rest_ms: 0, isQuarrel: false });
});

it('a change long after the last one is reverted immediately, even if nobody saw the object settle', () => {
  const { turn, clock, quarrels } = quarrel(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  clock.advance(600_000);
  expect(quarrels.undone('Deployment main-api', 'a')).toEqual({ rest_ms: 0, isQuarrel: false });
});

it('forgetting an object ends its rest and its quarrel', () => {
  const { turn, quarrels } = quarrel(200);
  for (let turns = 0; turns < 6; turns += 1) turn();
  quarrels.forget('Deployment main-api');
  expect(quarrels.undone('Deployment main-api', 'a')).toEqual({ rest_ms: 0, isQuarrel: false });
});

it('an object that is changed back slowly stays in a quarrel for twice the time between two changes', () => {
  const { turn, clock, quarrels } = quarrel(120_000);
  const key = 'Deployment main-api';
  for (let turns = 0; turns < 2; turns += 1) turn();
  quarrels.say(key, 'too early');
  expect(quarrels.held(key)).toBeUndefined();
  turn();
  quarrels.say(key, 'somebody changes it');
  quarrels.wrote(key, 'a');
  quarrels.settled(key);
  clock.advance(239_000);
  expect(quarrels.held(key)).toEqual({ words: 'somebody changes it', rest_ms: 1_000 });
  clock.advance(1_000);
  expect(quarrels.held(key)).toBeUndefined();
});
