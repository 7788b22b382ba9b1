// A PostgreSQL that runs and takes no writes: a real disk that is full to its last block, and a server set to read-only.
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type OpenDatabase } from '../../../runtime/db/client.ts';
import { requireWritable } from '../../../runtime/db/write-check.ts';
import { type FullPostgres, startFullPostgres } from '../../support/full-postgres.ts';

let server: FullPostgres;
let db: OpenDatabase;
beforeAll(async () => {
  server = await startFullPostgres();
  db = createDatabase({ url: server.url });
});
afterAll(async () => {
  await db?.close();
  await server?.stop();
});

const grow = (rows: number) =>
  db.query('insert into grown select repeat(md5(n::text), 8) from generate_series(1, $1) n', [
    rows,
  ]);
const unavailable = expect.objectContaining({ code: 'storage_unavailable' });

it('with a full disk, the check fails from the first refused write until there is room again', async () => {
  await db.query('create table grown (filler text)');
  await db.query('create table small as select 1 as number');
  await grow(1);
  await db.check();
  server.fill();
  expect(await db.query('select count(*)::int as count from grown')).toEqual([{ count: 1 }]);
  // Nothing was refused yet, so nothing is written.
  await db.check();
  await expect(grow(10_000)).rejects.toEqual(unavailable);
  await expect(db.check()).rejects.toMatchObject({ cause: { code: '53100' } });
  // A small write that finds room in a file means nothing.
  await db.query('update small set number = number + 1');
  await expect(db.check()).rejects.toEqual(unavailable);
  server.empty();
  await db.check();
  expect(await grow(10_000)).toEqual([]);
});

it('a server that becomes read-only fails the check once it has refused a write', async () => {
  const url = `${server.url}?options=-c%20default_transaction_read_only%3Don`;
  const standby = createDatabase({ url });
  onTestFinished(() => standby.close());
  await standby.check();
  await expect(standby.query('create table late (number integer)')).rejects.toEqual(unavailable);
  await expect(standby.check()).rejects.toMatchObject({ cause: { code: '25006' } });
});

it('a role that may create no temporary tables is not taken for a full disk', async () => {
  await db.query(`create role plain login password 'plain'`);
  await db.query('revoke temporary on database tintype from public');
  const url = Object.assign(new URL(server.url), { username: 'plain', password: 'plain' }).href;
  const plain = createDatabase({ url });
  onTestFinished(() => plain.close());
  expect(await requireWritable(plain)).toBe(false);
  expect(await requireWritable(db)).toBe(true);
});
