// The errors of `tintype migrate` for a database that it cannot migrate.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '../../../runtime/db/client.ts';
import { migrateOrAdvise } from '../../../runtime/db/main.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('template0');
});
afterAll(() => database.drop());

it.each([{ pathname: '/nowhere' }, { port: '1' }])(
  'migrate asks whether TINTYPE_DATABASE_URL is right if no database answers there: %j',
  async (part) => {
    const { href } = Object.assign(new URL(database.url), part);
    await expect(migrateOrAdvise(href)).rejects.toThrow(/: is TINTYPE_DATABASE_URL right\?$/);
  },
);

it('migrate reports the error of the database if it could connect', async () => {
  const db = createDatabase({ url: database.url });
  await db.query('create table projects ()');
  await db.close();
  await expect(migrateOrAdvise(database.url)).rejects.toThrow(
    /^the database could not be migrated \(.*"projects".*\)$/,
  );
});
