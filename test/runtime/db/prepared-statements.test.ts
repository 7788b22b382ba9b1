import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createDatabase } from '../../../runtime/db/client.ts';
import { listPrepared, prepared } from '../../../runtime/db/prepared-statements.ts';
import { useDatabase } from '../../support/database.ts';
import { listConditionsByAny, listTablesScannedByAny } from '../../support/explaining.ts';

const FOLDER = new URL('../../../runtime/db/', import.meta.url);
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))) {
  await import(new URL(file, FOLDER).href);
}
const ours = listPrepared();

const { db, url } = useDatabase();
/** Of its own, because plans of the other one are made while its tables are empty. */
const { db: filled } = useDatabase();

/** Connections keep a generic plan while the tables grow. */
it.each(ours)('a plan made while the tables are empty scans no table in full: %s', async (text) => {
  const scanned = await listTablesScannedByAny(db, text);
  expect(scanned.filter((table) => !table.startsWith('pg_'))).toEqual([]);
});

/** An average of one file per project must not make the plan list all files of a project. */
it.each(ours.filter((text) => /file_slug = \$2/.test(text)))(
  'a lookup by slug searches by the slug even if most projects have one file: %s',
  async (text) => {
    await makeFilesOfMany();
    expect(await listConditionsByAny(filled, text, 'files')).toEqual([
      expect.stringContaining('file_slug = $2'),
    ]);
  },
);

let made: Promise<void> | undefined;

function makeFilesOfMany(): Promise<void> {
  made ??= (async () => {
    const insert = (count: number, project: string, position: string) =>
      filled.transaction(async (tx) => {
        // The rows are consistent: skip triggers and foreign keys.
        await tx.query('set local session_replication_role = replica');
        await tx.query(
          `insert into files (file_id, project_id, file_slug, revision, size_bytes, position)
           select 'file_' || lpad(${project} || n, 26, '0'), 'prj_' || lpad(${project}, 26, '0'), 'f' || n, 1, 1, ${position}
           from generate_series(1, ${count}) n`,
        );
      });
    await insert(8_000, `'1' || lpad(n::text, 8, '0')`, '1');
    await insert(2_000, `'9'`, 'n');
    await filled.query('vacuum analyze files');
  })();
  return made;
}

const planned = (text: string) =>
  `select generic_plans + custom_plans as runs from pg_prepared_statements where statement = '${text}'`;

it('a kept statement is prepared once per connection, and other statements are not', async () => {
  const one = createDatabase({ url: url(), maxConnections: 1 });
  const statement = prepared('select $1::int + 1 as sum');
  for (let n = 0; n < 3; n += 1) expect(await one.query(statement, [n])).toEqual([{ sum: n + 1 }]);
  expect(await one.query(planned(statement))).toEqual([{ runs: 3 }]);
  await one.query('select $1::int + 2 as sum', [1]);
  expect(await one.query(planned('select $1::int + 2 as sum'))).toEqual([]);
  await one.close();
});

it.each(['alone', 'in a transaction'])(
  'a kept statement still works after a migration has changed its columns: %s',
  async (where) => {
    const table = `grown_${where.length}`;
    await db.query(`create table ${table} (one int)`);
    await db.query(`insert into ${table} values (1)`);
    const statement = prepared(`select * from ${table} where one = $1`);
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
