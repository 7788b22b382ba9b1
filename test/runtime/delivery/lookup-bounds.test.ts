// The number of remembered hosts is bounded, even if clients invent host names. Spec: Delivery host; Signing key.
import { expect, it } from 'vitest';
import type { Queryable } from '../../../runtime/db/client.ts';
import { createLookup } from '../../../runtime/delivery/lookup.ts';
import { sealing } from '../../support/delivery-host.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const HOSTS = 10_000;

/** Looks up invented hosts; the fake database saves twenty thousand queries without a result. */
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

it('lookups remember the last reload of 10,000 hosts, and evict the least recently requested host', async () => {
  const { ask, waits } = lookUpNobody();
  for (let index = 0; index < HOSTS; index++) await ask(index);
  expect(waits).toEqual([]);
  // All hosts are remembered, so another lookup of the first must wait for a second to pass.
  await ask(0);
  expect(waits).toEqual([1000]);
  // A new host evicts host 1, and asking for host 1 then evicts host 2: neither waits.
  await ask(HOSTS);
  await ask(1);
  expect(waits).toEqual([1000]);
  await ask(3);
  expect(waits).toEqual([1000, 1000]);
});
