/**
 * Proves that the operator may crash at any of its writes: an undisturbed run records the writes and their outcome;
 * then each run crashes around one write, in a place of its own, and the next run must reach the same outcome and
 * settle. The suites try a ninth of the writes, `make soak` all of them.
 */
import { expect } from 'vitest';
import type { CrashingOperator, CrashPoint } from './crashing-operator.ts';
import { sampleOf } from './sample.ts';

export type CrashPath<Place> = {
  /** Creates a new place in the path's initial state. */
  begin(): Promise<Place>;
  /** A process without memory of earlier ones. */
  operatorOf(place: Place): CrashingOperator;
  /** The final state, in terms that are the same for every place. */
  outcome(place: Place): Promise<unknown>;
  /** How many places may run concurrently. */
  at_once?: number;
};

/** Concurrent runs do not disturb each other, because each has a place of its own. */
const AT_ONCE = 6;
/** Odd, so that a sample contains both sides. */
const ONE_IN = 9;

/** Returns the writes of the undisturbed run, and their outcome. */
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

/** For sequential writes, after one equals before the next, and after the last, all is done. */
function crashPoints(writes: number, overlap: boolean): CrashPoint[] {
  const sides: CrashPoint['side'][] = overlap ? ['before', 'after'] : ['before'];
  return Array.from({ length: writes }, (_, write) =>
    sides.map((side): CrashPoint => ({ write, side })),
  ).flat();
}

/** Runs the work for a few items at a time. */
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
