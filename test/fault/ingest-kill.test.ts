/**
 * A worker that is killed at any step of ingest, of any type, on either storage: another one takes over, and the upload
 * is ready once, counted once, with nothing left behind. `node test/bench/kill-soak.ts` kills at all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { familyPictures } from './support/families.ts';
import {
  brokenAfter,
  type KillPoint,
  killAt,
  type Place,
  surveySteps,
  takeOver,
} from './support/ingest-kills.ts';
import { isLasting } from './support/steps.ts';
import { makeStorage, STORAGE_KINDS } from './support/storages.ts';

const SERIES_MS_MAX = 240_000;

describe.each(STORAGE_KINDS)('a worker on %s that is killed', (kind) => {
  const { db, url } = useDatabase();
  let place: Place;
  let points: KillPoint[];
  let broken: string[];
  let states: string[];

  beforeAll(async () => {
    place = { db, url: url(), storage: await makeStorage(kind) };
    const all = await surveySteps(place, await familyPictures());
    points = [...stillPoints(all), ...movingPoints(all, STORAGE_KINDS.indexOf(kind))];
    const killed = await killAt(place, points);
    states = killed.map(({ status }) => status);
    await takeOver(place);
    broken = await brokenAfter(place, killed);
  }, SERIES_MS_MAX);
  afterAll(() => place.storage.remove());

  it('passes every kind of step, and is killed in every state that it can leave', () => {
    const jpeg = points.filter(({ picture }) => picture.family === 'jpeg').map(({ step }) => step);
    for (const step of LANDMARKS) expect(jpeg).toContain(step);
    expect(states).toEqual(expect.arrayContaining(['processing', 'ready', 'failed']));
  });

  it('leaves an upload that ends ready once, in one attempt more, and nothing else', () => {
    expect(broken).toEqual([]);
  });
});

/** Without these the steps would not be those of an ingest. */
const LANDMARKS = [
  'after update uploads 1',
  'after ingest.open 1',
  'after ingest.verified 1',
  'after content.write 6',
  'after tx insert into files 1',
  'after commit 1',
  'after ingest.delete 1',
];

/** All steps of the JPEG, and of each other type some: together the others are killed everywhere too. */
function stillPoints(all: readonly KillPoint[]): KillPoint[] {
  const still = all.filter(({ step }) => step.startsWith('after '));
  const families = [...new Set(still.map(({ picture }) => picture.family))];
  return families.flatMap((family, index) => {
    const own = still.filter(({ picture }) => picture.family === family);
    if (index === 0) return own;
    return own.filter((_, at) => at % (families.length - 1) === index - 1);
  });
}

/** Every second call of the JPEG that lasts, the one half on one storage and the other on the other. */
function movingPoints(all: readonly KillPoint[], half: number): KillPoint[] {
  const moving = all.filter(
    ({ picture, step }) =>
      picture.family === 'jpeg' && step.startsWith('during ') && isLasting(step),
  );
  return moving.filter((_, at) => at % 2 === half);
}
