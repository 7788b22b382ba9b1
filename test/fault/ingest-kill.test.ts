/**
 * A worker is killed at any step of ingest, for every type and storage. Another worker takes over, and the upload
 * becomes ready once, is counted once, and leaves nothing behind. This suite kills after every step of the JPEG, on both
 * storages, after every step of each other type that changes something, on one of them, and during half of the JPEG's
 * calls that change something. `node test/bench/kill-soak.ts`, which `make soak` runs, covers all steps and calls of
 * every type on both storages.
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
import { brokenObjects, brokenRows } from './support/promises.ts';
import { isLasting } from './support/steps.ts';
import { makeStorage, STORAGE_KINDS } from './support/storages.ts';

const SERIES_MS_MAX = 600_000;

const nameOf = ({ picture, step }: KillPoint) => `${picture.family}: ${step}`;
const passed = new Set<string>();
const killedAt = new Set<string>();

describe('a worker that is killed', { shuffle: false }, () => {
  describe.each(STORAGE_KINDS)('on %s', (kind) => {
    const { db, url } = useDatabase();
    let place: Place;
    let points: KillPoint[];
    let broken: string[];
    let states: string[];

    beforeAll(async () => {
      place = { db, url: url(), storage: await makeStorage(kind) };
      const all = await surveySteps(place, await familyPictures());
      const half = STORAGE_KINDS.indexOf(kind);
      points = [...stillPoints(all, half), ...movingPoints(all, half)];
      for (const point of all.filter(isTriedAfter)) passed.add(nameOf(point));
      for (const point of points) killedAt.add(nameOf(point));
      const killed = await killAt(place, points);
      states = killed.map(({ status }) => status);
      await takeOver(place);
      broken = await brokenAfter(place, killed);
    }, SERIES_MS_MAX);
    afterAll(() => place.storage.remove());

    it('is killed at every kind of step, with uploads that are processing, ready or failed', () => {
      const jpeg = points
        .filter(({ picture }) => picture.family === 'jpeg')
        .map(({ step }) => step);
      for (const step of LANDMARKS) expect(jpeg).toContain(step);
      expect(states).toEqual(expect.arrayContaining(['processing', 'ready', 'failed']));
    });

    it('leaves each upload ready exactly once, after one more attempt, and nothing else', () => {
      expect(broken).toEqual([]);
    });

    it('is detected if a stored object or a webhook is missing, or an ingest object is left over', async () => {
      const { db: rows, storage } = place;
      const look = async () => [
        ...(await brokenRows(rows)),
        ...(await brokenObjects(rows, storage.look)),
      ];
      const [served] = await rows.query<{ object_key: string }>(
        'select object_key from file_revisions',
      );
      await storage.buckets.content.delete(served?.object_key ?? '');
      expect(await look()).toHaveLength(1);
      await storage.buckets.ingest.write('left', Buffer.from('over'), {
        content_type: 'image/png',
      });
      expect(await look()).toHaveLength(2);
      await rows.query(
        `delete from webhook_deliveries where delivery_id = (select min(delivery_id) from webhook_deliveries
         where event = 'upload.ready')`,
      );
      expect(await look()).toHaveLength(3);
    });
  });

  it('is killed after every step of the JPEG, and after every other step that changes something', () => {
    const spared = [...passed].filter((point) => !killedAt.has(point));
    expect(spared).toEqual([]);
    expect(passed.size).toBeGreaterThan(LANDMARKS.length * STORAGE_KINDS.length);
  });
});

/** Steps that every ingest must have; they prove that the survey recorded a real ingest. */
const LANDMARKS = [
  'after update uploads 1',
  'after ingest.open 1',
  'after ingest.verified 1',
  'after content.write 6',
  'after tx insert into files 1',
  'after commit 1',
  'after ingest.delete 1',
];

/** Other types read as the JPEG does, and publish rows in the same transaction. */
function isTriedAfter({ picture, step }: KillPoint): boolean {
  return step.startsWith('after ') && (picture.family === 'jpeg' || isLasting(step));
}

/**
 * All steps of the JPEG, and every other step of each other type. The other storage gets the
 * remaining steps.
 */
function stillPoints(all: readonly KillPoint[], half: number): KillPoint[] {
  const still = all.filter(isTriedAfter);
  const families = [...new Set(still.map(({ picture }) => picture.family))];
  return families.flatMap((family, index) => {
    const own = still.filter(({ picture }) => picture.family === family);
    return index === 0 ? own : own.filter((_, at) => (at + index) % STORAGE_KINDS.length === half);
  });
}

/** Half of the JPEG's calls that change something. The other storage gets the other half. */
function movingPoints(all: readonly KillPoint[], half: number): KillPoint[] {
  const moving = all.filter(
    ({ picture, step }) =>
      picture.family === 'jpeg' && step.startsWith('during ') && isLasting(step),
  );
  return moving.filter((_, at) => at % 2 === half);
}
