/**
 * That it does not matter at which of its writes the operator ends: one run that nothing disturbs says what is written
 * and what comes of it; then it ends around these writes, in a place of its own each time, and the next one
 * comes to the same, and to rest. The suites end it at a fifth of them, `make soak` at each.
 */
import { expect } from 'vitest';
import type { CrashingOperator, CrashPoint } from './crashing-operator.ts';
import { sampleOf } from './sample.ts';

export type CrashPath<Place> = {
  /** A new place, up to the state that the path begins in. */
  begin(): Promise<Place>;
  /** A process that knows nothing of those before it. */
  operatorOf(place: Place): CrashingOperator;
  /** All that is left in the end, in words that are the same for every place. */
  outcome(place: Place): Promise<unknown>;
  /** How many places there may be beside one another. */
  at_once?: number;
};

/** Places of their own keep them apart. */
const AT_ONCE = 6;
/** No multiple of the sides: both are taken. */
const ONE_IN = 5;

/** Answers what the undisturbed run wrote, and what came of it. */
export async function crashEverywhere<Place>(
  path: CrashPath<Place>,
): Promise<{ writes: string[]; outcome: unknown }> {
  const { begin, operatorOf, outcome, at_once } = path;
  const clean = await begin();
  const undisturbed = operatorOf(clean);
  const writes = await undisturbed.run();
  const expected = await outcome(clean);
  // A second look at everything writes nothing.
  expect(await operatorOf(clean).run()).toEqual([]);
  const points = crashPoints(writes.length, undisturbed.hasOverlapped());
  await atOnce(sampleOf(points, ONE_IN), (point) => crash(path, point, expected), at_once);
  return { writes, outcome: expected };
}

/** Where one write follows another, what ends after the one has ended before the other; after the last, all is done. */
function crashPoints(writes: number, overlap: boolean): CrashPoint[] {
  const sides: CrashPoint['side'][] = overlap ? ['before', 'after'] : ['before'];
  return Array.from({ length: writes }, (_, write) =>
    sides.map((side): CrashPoint => ({ write, side })),
  ).flat();
}

/** A few at a time. */
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
