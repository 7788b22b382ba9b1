// What is remembered of the hosts that were asked for, whoever makes names up. Spec: Delivery host; Signing key.
import { expect, it } from 'vitest';
import type { Queryable } from '../../../runtime/db/client.ts';
import { createLookup } from '../../../runtime/delivery/lookup.ts';
import { sealing } from '../../support/delivery-host.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const HOSTS = 10_000;

/** Of made-up hosts, none of which is a project's: a database would say the same, twenty thousand times. */
function lookUpNobody() {
  const waits: number[] = [];
  const db: Queryable = { query: async () => [] };
  const { findSecret } = createLookup({
    db,
    clock: createManualClock(),
    sealing,
    rootDomain: 'localhost',
    wait: async (ms) => void waits.push(ms),
  });
  const ask = (index: number) => findSecret(`made-up-${index}.localhost`, 'kid_nobody');
  return { ask, waits };
}

it('the last reload is remembered of ten thousand hosts, and of the one asked for longest ago no more', async () => {
  const { ask, waits } = lookUpNobody();
  for (let index = 0; index < HOSTS; index++) await ask(index);
  expect(waits).toEqual([]);
  // All of them are remembered, so that the first has to wait for its second.
  await ask(0);
  expect(waits).toEqual([1000]);
  // One more pushes out the second, and that one the third: neither waits.
  await ask(HOSTS);
  await ask(1);
  expect(waits).toEqual([1000]);
  await ask(3);
  expect(waits).toEqual([1000, 1000]);
});
