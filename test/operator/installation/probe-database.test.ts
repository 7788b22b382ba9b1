// Spec: Project.
import { expect, it } from 'vitest';
import { probeDatabase } from '../../../operator/installation/probe-database.ts';
import type { Queryable } from '../../../runtime/db/client.ts';
import { findDatabaseIdentity } from '../../../runtime/db/database-identity.ts';
import { useDatabase } from '../../support/database.ts';

const { db, url } = useDatabase();
const away: Queryable = { query: () => Promise.reject(new Error('away')) };

it('probeDatabase tells the database of the operator from another one', async () => {
  const { id } = await findDatabaseIdentity(db);
  const own = { db, known: undefined };
  expect(await probeDatabase(url(), own)).toEqual({ state: 'reachable', id });
  const template = Object.assign(new URL(url()), { pathname: '/postgres' }).href;
  expect((await probeDatabase(template, own)).state).toBe('other');
});

it('while the operator’s own database is away, only a database with the known identity is accepted', async () => {
  const { id } = await findDatabaseIdentity(db);
  for (const known of [id, undefined]) {
    expect(await probeDatabase(url(), { db: away, known })).toEqual({ state: 'reachable', id });
  }
  expect(await probeDatabase(url(), { db: away, known: 'another' })).toEqual({
    state: 'unreachable',
    why: expect.stringContaining('not the same one as before'),
  });
});
