/** Writes docs/schema.md from the catalog of a database that it migrates itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Queryable } from '../../runtime/db/client.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { writeGenerated } from '../write-generated.ts';
import { code, table } from './reference/markdown.ts';

type Table = { name: string; comment: string };
type Column = {
  table_name: string;
  name: string;
  type: string;
  required: boolean;
  filled: string | null;
  comment: string | null;
};
type Rule = { table_name: string; name: string; kind: string; definition: string };
type Reference = { table_name: string; name: string; target: string; columns: string[] };
type Catalog = { tables: Table[]; columns: Column[]; rules: Rule[]; references: Reference[] };

const RULES_OF_TRIGGERS = `Rules that a constraint cannot express are triggers. A trigger has the name of its rule, and a violation reports that name, as with a constraint:

- Values that never change, and uploads that have ended for good: \`…_fixed\`, \`uploads_ended_for_good\`.
- The counters of a project. \`…_counters_noted\` record, in the setting \`tintype.counters\` of the transaction, by how much each statement changes the rows and the counters; at the commit, \`…_counters_agree\` refuse a transaction whose changes differ. The cost depends on what the transaction changes, not on the size of the project. The check takes no lock, and is sound under concurrency because each transaction is judged by its own changes. It starts from zero: if the triggers of a database were disabled (a data-only restore), count once by hand.
- At most 100 active API keys, and exemptions that do not overlap: counted under the row lock of the project or organization, which the service’s statements take first. (An exclusion constraint would need the extension btree_gist, which not every server offers.)

No constraint says that \`usage_days.charged_credits\` is the sum of a day's ledger entries, or that \`organizations.credit_balance\` is grants minus charges: the row lock of the organization ensures it, and tests compare the values.`;

writeGenerated(new Map([['docs/schema.md', printDocument(await readMigratedCatalog())]]));

async function readMigratedCatalog(): Promise<Catalog> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-schema-'));
  const postgres = await startPostgres({ folder, settings: { fsync: 'off' } });
  try {
    await migrate(postgres.url);
    const db = createDatabase({ url: postgres.url, maxConnections: 1 });
    const catalog = await readCatalog(db);
    await db.close();
    return catalog;
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readCatalog(db: Queryable): Promise<Catalog> {
  const ours = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'schema_migrations'`;
  return {
    tables: await db.query<Table>(
      `select relname as name, obj_description(oid, 'pg_class') as comment
       from pg_class c where ${ours} order by oid`,
    ),
    columns: await db.query<Column>(
      `select c.relname as table_name, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
         a.attnotnull as required, col_description(c.oid, a.attnum) as comment,
         case when a.attidentity <> '' then 'counted'
              when a.attgenerated <> '' then 'computed: ' || pg_get_expr(d.adbin, d.adrelid)
              else pg_get_expr(d.adbin, d.adrelid) end as filled
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
       where ${ours} order by c.oid, a.attnum`,
    ),
    rules: await db.query<Rule>(
      `select c.relname as table_name, r.conname as name, r.contype as kind, pg_get_constraintdef(r.oid) as definition
       from pg_constraint r join pg_class c on c.oid = r.conrelid where ${ours} and r.contype not in ('n', 't')
       union all
       select c.relname, i.relname, 'i', pg_get_indexdef(i.oid)
       from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
       where ${ours} and not exists (select from pg_constraint r where r.conindid = i.oid and r.conrelid = c.oid)
       union all
       select c.relname, t.tgname, 't', pg_get_triggerdef(t.oid, true)
       from pg_trigger t join pg_class c on c.oid = t.tgrelid where ${ours} and not t.tgisinternal
       order by 1, 2`,
    ),
    references: await db.query<Reference>(
      `select c.relname as table_name, r.conname as name, r.confrelid::regclass::text as target,
         array(select attname::text from pg_attribute
           where attrelid = r.conrelid and attnum = any(r.conkey) order by attnum) as columns
       from pg_constraint r join pg_class c on c.oid = r.conrelid where ${ours} and r.contype = 'f'
       order by c.oid, r.conname`,
    ),
  };
}

function printDocument(catalog: Catalog): string {
  const parts = [
    '# The database',
    '<!-- Written by `make generate` from the migrations in runtime/db/migrations. Do not edit. -->',
    'PostgreSQL 15 or newer. What can be a constraint is one. Times are UTC; what ends in `_sealed` is encrypted.',
    RULES_OF_TRIGGERS,
    `\`\`\`mermaid\n${printDiagram(catalog)}\n\`\`\``,
    ...catalog.tables.map((one) => printTable(one, catalog)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function printDiagram({ references }: Catalog): string {
  const lines = references.map(
    ({ table_name, target, columns }) =>
      `  ${target} ||--o{ ${table_name} : "${columns.join(', ')}"`,
  );
  return ['erDiagram', ...new Set(lines)].join('\n');
}

function printTable({ name, comment }: Table, { columns, rules }: Catalog): string {
  const own = rules.filter((rule) => rule.table_name === name);
  const constraints = own.filter((rule) => rule.kind !== 'i' && rule.kind !== 't');
  const triggers = own.filter((rule) => rule.kind === 't');
  const indexes = own.filter((rule) => rule.kind === 'i');
  return [
    `## ${name}`,
    comment,
    table(
      ['column', 'type', 'filled with', 'meaning'],
      columns.filter((column) => column.table_name === name).map(rowOf),
    ).trimEnd(),
    printRules('Constraints', constraints),
    ...(triggers.length > 0 ? [printRules('Triggers', triggers)] : []),
    ...(indexes.length > 0 ? [printRules('Indexes', indexes)] : []),
  ].join('\n\n');
}

function rowOf({ name, type, required, filled, comment }: Column): string[] {
  const kind = required ? type : `${type}, may be null`;
  return [code(name), kind, filled === null ? '' : code(filled), comment ?? ''];
}

function printRules(title: string, rules: readonly Rule[]): string {
  const lines = rules.map(({ name, definition }) => `- \`${name}\`: \`${shorten(definition)}\``);
  return [`${title}:`, lines.join('\n')].join('\n\n');
}

// Removes what a definition repeats: an index its table and method, a trigger its name and table.
function shorten(definition: string): string {
  return definition
    .replace(/^CREATE (?:CONSTRAINT )?TRIGGER \S+ /, '')
    .replace(/^CREATE (UNIQUE )?INDEX \S+ ON \S+ USING btree /, '$1')
    .replaceAll(/\s+/g, ' ');
}
