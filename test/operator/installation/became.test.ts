// What the cluster makes of objects that were written.
import { expect, it } from 'vitest';
import { createBecame } from '../../../operator/installation/became.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';

it('is forgotten with time: objects that are deleted and made anew leave nothing behind', () => {
  const clock = createManualTimedClock();
  const known = new Map();
  const became = createBecame(clock, known);
  const written = { spec: { replicas: 1 } };
  for (let minute = 0; minute < 600; minute += 1) {
    const metadata = { name: 'main', uid: `u-${minute}`, resourceVersion: '1' };
    const live = { metadata, spec: { replicas: 2 } };
    expect(became.note(written, live)).toEqual(['.spec.replicas']);
    expect(became.find(written, live)).toEqual(['.spec.replicas']);
    clock.advance(60_000);
  }
  expect(known.size).toBe(60);
});
