// Lookups whose responses arrive out of order, or not at all. Spec: Caching and response headers.
import { expect, it } from 'vitest';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import { createLookupCache, noOutage } from '../../../runtime/delivery/lookup-cache.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** A cache whose database responses the test resolves by hand, in any order. */
function askByHand() {
  const clock = createManualClock();
  const asked: PromiseWithResolvers<string>[] = [];
  const cache = createLookupCache<string>({
    clock,
    outage: noOutage(),
    load: () => {
      const question = Promise.withResolvers<string>();
      asked.push(question);
      return question.promise;
    },
  });
  return { clock, cache, asked };
}

it('the answer to an earlier lookup does not replace that to a later one', async () => {
  const { clock, cache, asked } = askByHand();
  const slow = cache.find('host');
  clock.advance(1);
  const newer = cache.reload('host');
  asked[1]?.resolve('as it is');
  expect(await newer).toBe('as it is');
  asked[0]?.resolve('as it was');
  expect(await slow).toBe('as it was');
  clock.advance(LOOKUP_CACHE_SECONDS_MAX - 2);
  expect(await cache.find('host')).toBe('as it is');
  expect(asked.length).toBe(2);
});

it('the answer to a later lookup replaces that to an earlier one', async () => {
  const { clock, cache, asked } = askByHand();
  const first = cache.find('host');
  asked[0]?.resolve('as it was');
  expect(await first).toBe('as it was');
  clock.advance(1);
  const newer = cache.reload('host');
  asked[1]?.resolve('as it is');
  expect(await newer).toBe('as it is');
  expect(await cache.find('host')).toBe('as it is');
});

it('a failed lookup is repeated two seconds later, and not before', async () => {
  const { clock, cache, asked } = askByHand();
  const first = cache.find('host');
  asked[0]?.resolve('as it was');
  await first;
  clock.advance(LOOKUP_CACHE_SECONDS_MAX);
  const refreshed = cache.find('host');
  asked[1]?.reject(new Error('away'));
  expect(await refreshed).toBe('as it was');
  clock.advance(1.9);
  expect(await cache.find('host')).toBe('as it was');
  expect(asked.length).toBe(2);
  clock.advance(0.1);
  expect(await cache.find('host')).toBe('as it was');
  asked[2]?.resolve('as it is');
  await expect.poll(() => cache.find('host')).toBe('as it is');
  expect(asked.length).toBe(3);
});
