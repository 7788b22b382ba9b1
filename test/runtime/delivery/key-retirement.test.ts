// A rotated signing key retires at an exact millisecond of the database's clock. Spec: Signing key.
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { rotateSigningKey } from '../../../runtime/actions/rotate-signing-key.ts';
import type { Queryable } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { listSigningKeys } from '../../../runtime/db/signing-keys.ts';
import { createLookup } from '../../../runtime/delivery/lookup.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { useDatabase } from '../../support/database.ts';
import { type DatabaseClock, takeDatabaseClock } from '../../support/database-clock.ts';
import { makeKey, type TestKey } from '../../support/delivered.ts';
import { ROOT_DOMAIN, sealing } from '../../support/delivery-host.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { makeProject } from '../../support/rows.ts';

const TURN = new Date('2126-03-29T00:30:00.123Z').getTime();
const END = TURN + 24 * 3600 * 1000;

const { db, url } = useDatabase();
let hand: DatabaseClock;
let project: ProjectRow;
let key: TestKey;

const setTo = (at: number) => hand.set(new Date(at).toISOString());

beforeAll(async () => {
  hand = await takeDatabaseClock(url(), db);
});

beforeEach(async () => {
  project = await makeProject(db);
  key = await makeKey(db, project);
  await setTo(TURN);
  const { project_id } = project;
  const deps = { sealing, clock: systemClock };
  await db.transaction((tx) => rotateSigningKey(tx, deps, { project_id }));
});

it('a rotated signing key verifies until exactly 24 hours after its rotation', async () => {
  const read = async (at: number) => {
    await setTo(at);
    const rows = await listSigningKeys(db, project.project_id);
    return rows.find(({ kid }) => kid === key.kid);
  };
  expect((await read(END - 1))?.retire_after?.getTime()).toBe(END);
  expect((await read(END - 1))?.is_verifying).toBe(true);
  expect((await read(END))?.is_verifying).toBe(false);
});

it.each([
  ['just before it', 1],
  ['five seconds before it', 5000],
  ['half a minute before it', 29_999],
])(
  'the end of a rotated key is exact on a delivery server that read the key %s',
  async (_name, before) => {
    const clock = createManualClock();
    const lookup = createLookup({ db, clock, sealing, rootDomain: ROOT_DOMAIN });
    const find = () => lookup.findSecret(`${project.project_slug}.${ROOT_DOMAIN}`, key.kid);
    await setTo(END - before);
    expect(await find()).toBeDefined();
    clock.advance((before - 1) / 1000);
    expect(await find()).toBeDefined();
    clock.advance(1 / 1000);
    expect(await find()).toBeUndefined();
  },
);

it('the end of a rotated key is exact even if the database answered late', async () => {
  let at = END - 5000;
  const clock = { now: () => new Date(at) };
  const slow: Queryable = {
    query: async (text, values) => {
      const rows = await db.query(text, values);
      at += 4000;
      return rows as never;
    },
  };
  const lookup = createLookup({ db: slow, clock, sealing, rootDomain: ROOT_DOMAIN });
  const find = () => lookup.findSecret(`${project.project_slug}.${ROOT_DOMAIN}`, key.kid);
  await setTo(at);
  expect(await find()).toBeDefined();
  at = END - 1;
  expect(await find()).toBeDefined();
  at = END;
  expect(await find()).toBeUndefined();
});
