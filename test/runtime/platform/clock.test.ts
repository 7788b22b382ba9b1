import { expect, it } from 'vitest';
import { LOOKUP_CACHE_SECONDS_MAX } from '../../../runtime/core/limits.ts';
import { cacheSecondsMax } from '../../../runtime/delivery/lookup.ts';
import { createLookupCache, noOutage } from '../../../runtime/delivery/lookup-cache.ts';
import { createSteadyClock } from '../../../runtime/platform/clock.ts';

/** A process on a machine that can sleep: meanwhile, uptime advances, but running time does not. */
function onMachine() {
  const at = { running: 1000, uptime: 500_000 };
  const runFor = (seconds: number) => {
    at.running += seconds * 1000;
    at.uptime += seconds * 1000;
  };
  const sleepFor = (seconds: number) => {
    at.uptime += seconds * 1000;
    runFor(1);
  };
  const clock = createSteadyClock({ running_ms: () => at.running, uptime_ms: () => at.uptime });
  return { clock, runFor, sleepFor };
}

it('a steady clock includes the time that its machine slept, exactly once', () => {
  const { clock, runFor, sleepFor } = onMachine();
  const begun = clock.now().getTime();
  const passed = () => clock.now().getTime() - begun;
  runFor(10);
  expect(passed()).toBe(10_000);
  sleepFor(3600);
  expect(passed()).toBe(3_611_000);
  runFor(10);
  expect(passed()).toBe(3_621_000);
  sleepFor(60);
  expect(passed()).toBe(3_682_000);
});

it('a steady clock ignores an uptime that is rounded or set back', () => {
  const at = { running: 0, uptime: 100_000 };
  const clock = createSteadyClock({ running_ms: () => at.running, uptime_ms: () => at.uptime });
  const begun = clock.now().getTime();
  for (const uptime of [101_000, 101_000, 102_000, 50_000, 51_000]) {
    at.running += 700;
    at.uptime = uptime;
    clock.now();
  }
  expect(clock.now().getTime() - begun).toBe(3500);
});

it('a lookup cached before the machine slept is repeated, and no HTTP cache may keep its result', async () => {
  const { clock, runFor, sleepFor } = onMachine();
  const answers = ['ready', 'blocked'];
  const cache = createLookupCache({ clock, outage: noOutage(), load: async () => answers.shift() });
  const asked_at = clock.now().getTime();
  expect(await cache.find('a')).toBe('ready');
  runFor(LOOKUP_CACHE_SECONDS_MAX - 10);
  expect(await cache.find('a')).toBe('ready');
  sleepFor(3600);
  expect(cacheSecondsMax(clock, { asked_at })).toBe(0);
  expect(await cache.find('a')).toBe('blocked');
});
