import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createDatabase } from '../../../runtime/db/client.ts';
import { kept, listKept } from '../../../runtime/db/kept-statements.ts';
import { useDatabase } from '../../support/database.ts';
import { listTablesScannedByAny } from '../../support/explaining.ts';

const FOLDER = new URL('../../../runtime/db/', import.meta.url);
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))) {
  await import(new URL(file, FOLDER).href);
}
const ours = listKept();

const { db, url } = useDatabase();

/** As a connection keeps its plan when the tables have grown. */
it.each(ours)(
  'what is planned while the tables are empty reads none as a whole: %s',
  async (text) => {
    const scanned = await listTablesScannedByAny(db, text);
    expect(scanned.filter((table) => !table.startsWith('pg_'))).toEqual([]);
  },
);

const planned = (text: string) =>
  `select generic_plans + custom_plans as runs from pg_prepared_statements where statement = '${text}'`;

it('a kept statement is planned once on a connection, and others are not kept', async () => {
  const one = createDatabase({ url: url(), maxConnections: 1 });
  const statement = kept('select $1::int + 1 as sum');
  for (let n = 0; n < 3; n += 1) expect(await one.query(statement, [n])).toEqual([{ sum: n + 1 }]);
  expect(await one.query(planned(statement))).toEqual([{ runs: 3 }]);
  await one.query('select $1::int + 2 as sum', [1]);
  expect(await one.query(planned('select $1::int + 2 as sum'))).toEqual([]);
  await one.close();
});

it.each(['alone', 'in a transaction'])(
  'a kept statement that a migration gives another answer is answered all the same: %s',
  async (where) => {
    const table = `grown_${where.length}`;
    await db.query(`create table ${table} (one int)`);
    await db.query(`insert into ${table} values (1)`);
    const statement = kept(`select * from ${table} where one = $1`);
    const ask = () =>
      where === 'alone'
        ? db.query(statement, [1])
        : db.transaction((tx) => tx.query(statement, [1]));
    const atOnce = () => Promise.all(Array.from({ length: 8 }, ask));
    expect((await atOnce())[0]).toEqual([{ one: 1 }]);
    await db.query(`alter table ${table} add two int default 2`);
    for (const rows of await atOnce()) expect(rows).toEqual([{ one: 1, two: 2 }]);
  },
);
