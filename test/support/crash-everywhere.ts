/**
 * Proves that the operator may crash at any of its writes. A first run records all writes and the outcome. Then, for
 * each write, a run in a new place crashes just before or after it; the next run must reach the same outcome and then
 * write nothing. Test suites try every ninth crash point, `make soak` tries all.
 */
import { expect } from 'vitest';
import type { CrashingOperator, CrashPoint } from './crashing-operator.ts';
import { sampleOf } from './sample.ts';

export type CrashPath<Place> = {
  /** Creates a place, such as a namespace, in the initial state of the path. */
  begin(): Promise<Place>;
  /** Returns a simulated process that remembers nothing of earlier ones. */
  operatorOf(place: Place): CrashingOperator;
  /** Returns the final state without anything that differs between places, such as names. */
  outcome(place: Place): Promise<unknown>;
  /** How many places may run concurrently. Default: 6. */
  at_once?: number;
};

/** Concurrent runs are independent, because each has its own place. */
const AT_ONCE = 6;
/** Odd, so that a sample contains crashes both before and after a write. */
const ONE_IN = 9;

/** Returns the writes and the outcome of the run without a crash. */
export async function crashEverywhere<Place>(
  path: CrashPath<Place>,
): Promise<{ writes: string[]; outcome: unknown }> {
  const { begin, operatorOf, outcome, at_once } = path;
  const clean = await begin();
  const undisturbed = operatorOf(clean);
  const writes = await undisturbed.run();
  const expected = await outcome(clean);
  // A second pass writes nothing.
  expect(await operatorOf(clean).run()).toEqual([]);
  const points = crashPoints(writes.length, undisturbed.hasOverlapped());
  await atOnce(sampleOf(points, ONE_IN), (point) => crash(path, point, expected), at_once);
  return { writes, outcome: expected };
}

/**
 * If writes never overlap, a crash after one equals a crash before the next, and after the last one
 * the work is done.
 */
function crashPoints(writes: number, overlap: boolean): CrashPoint[] {
  const sides: CrashPoint['side'][] = overlap ? ['before', 'after'] : ['before'];
  return Array.from({ length: writes }, (_, write) =>
    sides.map((side): CrashPoint => ({ write, side })),
  ).flat();
}

/** Runs the work for all items, a few concurrently. */
export async function atOnce<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  at_once = AT_ONCE,
): Promise<void> {
  const left = [...items].values();
  const workers = Array.from({ length: at_once }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(workers);
}

async function crash<Place>(
  { begin, operatorOf, outcome }: CrashPath<Place>,
  point: CrashPoint,
  expected: unknown,
): Promise<void> {
  const place = await begin();
  const done = await operatorOf(place).run(point);
  expect(done).toHaveLength(point.write + 1);
  await operatorOf(place).run();
  expect({ point, done, again: await operatorOf(place).run() }).toEqual({ point, done, again: [] });
  expect({ point, done, outcome: await outcome(place) }).toEqual({
    point,
    done,
    outcome: expected,
  });
}
