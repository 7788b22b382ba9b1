/**
 * An operator and a database of different versions: an older database is not written to before it is migrated, and a
 * newer one is used as usual.
 */
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../../runtime/db/client.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { createTestDatabase, useDatabase } from '../support/database.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';

const { db } = useDatabase();
const { apply, condition, led, read, remove, untilGone, untilReason } = useTenantCluster({ db });
/** Without the Projects of the other tests, which would get organizations. */
const alone = useTenantCluster({ db });

it('a new empty database does not hold up a deletion, and gets no organization by it', async () => {
  const made = await createTestDatabase();
  const anew = createDatabase({ url: made.url });
  const name = newSlug();
  await alone.apply('Project', name, {});
  await alone.led(() => alone.untilReason('Project', name, 'InSync'));
  await alone.remove('Project', name);
  await alone.led(() => alone.untilGone('Project', name), { through: anew });
  expect(await anew.query('select name from organizations')).toEqual([]);
  await anew.close();
  await made.drop();
}, 30_000);

describe('a database of another version', () => {
  it('that is older is reported, and nothing is written until it is migrated', async () => {
    const made = await createTestDatabase('template0');
    const empty = createDatabase({ url: made.url });
    const name = newSlug();
    await apply('Project', name, {});
    await led(
      async () => {
        await untilReason('Project', name, 'SchemaNotReady');
        const { message } = (await condition('Project', name)) ?? {};
        expect(message).toMatch(
          /lacks migrations of this version: an ImageService .*tintype migrate/,
        );
        expect(await condition('Project', name, 'Reconciling')).toMatchObject({ status: 'True' });
        expect((await read('Project', name)).metadata.finalizers).toBeUndefined();
        expect(await empty.query("select 1 from pg_tables where schemaname = 'public'")).toEqual(
          [],
        );
        await migrate(made.url);
        await untilReason('Project', name, 'InSync');
      },
      { through: empty },
    );
    await empty.close();
    await made.drop();
  }, 30_000);

  it('that was never migrated holds up no deletion, while an older one does', async () => {
    const made = await createTestDatabase('template0');
    const empty = createDatabase({ url: made.url });
    const name = newSlug();
    await apply('Project', name, {});
    await led(() => untilReason('Project', name, 'InSync'));
    await empty.query('create table schema_migrations (name text)');
    await remove('Project', name);
    await led(
      async () => {
        await untilReason('Project', name, 'SchemaNotReady');
        expect((await read('Project', name)).metadata.finalizers).toEqual(['tintype.dev/rows']);
        await empty.query('drop table schema_migrations');
        await untilGone('Project', name);
      },
      { through: empty },
    );
    await empty.close();
    await made.drop();
  }, 30_000);

  it('that is newer is used as usual', async () => {
    await db.query(`insert into schema_migrations (name, run_on) values ('9999_later', now())`);
    await db.query('alter table projects add column of_later_versions text');
    const name = newSlug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(() => untilReason('Project', name, 'InSync'));
    expect((await findProjectBySlug(db, name))?.name).toBe('Shop');
  });
});
