/**
 * Wraps a database to record how each select is executed: the plan, and the number of rows read from some tables. The
 * row counts come from the server's statistics of the transaction, because a plan has only averages per loop.
 */
import type { Database, Queryable } from '../../runtime/db/client.ts';
import { throughDatabase } from './through-database.ts';

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
};

export type Explained = {
  text: string;
  /** Rows read from the tables, including those that a filter discarded. */
  rows_read: number;
  /** Plan nodes that read one of the tables, such as `Index Scan files_in_order`. */
  scans: string[];
  /** Pages of 8 kB. */
  buffers: number;
};

/** Explains selects that read one of the tables; every statement still runs on `db`. */
export function explaining(db: Database, tables: readonly string[]) {
  const explained: Explained[] = [];
  const isRead = (text: string) =>
    /^\s*select/.test(text) &&
    tables.some((table) => new RegExp(`\\b(from|join) ${table}\\b`).test(text));
  const wrapped: Database = {
    ...db,
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      if (!isRead(text)) return db.query<Row>(text, values);
      return db.transaction(async (tx) => {
        const before = await countReads(tx, tables);
        const rows = await tx.query<Row>(text, values);
        const rows_read = (await countReads(tx, tables)) - before;
        explained.push({ text, rows_read, ...(await explain(tx, { text, values, tables })) });
        return rows;
      });
    },
  };
  return { db: wrapped, explained };
}

async function countReads(tx: Queryable, tables: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ reads: number }>(
    `select sum(seq_tup_read + idx_tup_fetch)::bigint as reads from pg_stat_xact_user_tables
     where relname = any($1)`,
    [tables],
  );
  return row?.reads ?? 0;
}

async function explain(
  tx: Queryable,
  { text, values, tables }: { text: string; values: readonly unknown[]; tables: readonly string[] },
): Promise<Pick<Explained, 'scans' | 'buffers'>> {
  const plan = await planOf(tx, {
    text: `explain (analyze, buffers, format json) ${text}`,
    values,
  });
  const nodes = nodesOf(plan);
  const scans = nodes.filter((node) =>
    tables.includes(node['Relation Name'] ?? indexOwner(node, tables)),
  );
  return {
    scans: scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim()),
    buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}

/** A bitmap index scan does not name its table, but our index names begin with the table's name. */
function indexOwner(node: Plan, tables: readonly string[]): string {
  return tables.find((table) => node['Index Name']?.startsWith(table)) ?? '';
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

export type Statement = { text: string; values: readonly unknown[] };

/** Wraps a database to record all statements, including those in transactions. */
export function noting(db: Database): { db: Database; statements: Statement[] } {
  const statements: Statement[] = [];
  const noted = throughDatabase(db, (to) => ({
    query: (text, values = []) => {
      statements.push({ text, values });
      return to.query(text, values);
    },
  }));
  return { db: noted, statements };
}

/** Tables that the plan of the statement scans sequentially. */
export async function listTablesScanned(
  db: Queryable,
  { text, values }: Statement,
): Promise<string[]> {
  return scannedBy(await planOf(db, { text: `explain (format json) ${text}`, values }));
}

/** Executes the statement, rolls it back, and returns the number of 8 kB pages that it read. */
export async function countBuffers(db: Database, { text, values }: Statement): Promise<number> {
  let count = 0;
  const undone = new Error('undone');
  const explain = async (tx: Queryable) => {
    const plan = await planOf(tx, {
      text: `explain (analyze, buffers, format json) ${text}`,
      values,
    });
    count = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    throw undone;
  };
  await db.transaction(explain).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return count;
}

/** Indexes that the plan of the statement uses. */
export async function listIndexesRead(
  db: Queryable,
  { text, values }: Statement,
): Promise<string[]> {
  const plan = await planOf(db, { text: `explain (format json) ${text}`, values });
  return nodesOf(plan).flatMap((node) => node['Index Name'] ?? []);
}

/** Tables that the generic plan scans sequentially. Prepared statements can use this plan. */
export async function listTablesScannedByAny(db: Queryable, text: string): Promise<string[]> {
  const explain = `explain (generic_plan, format json) ${text}`;
  return scannedBy(await planOf(db, { text: explain, values: [] }));
}

/** The index conditions on a table in the generic plan. */
export async function listConditionsByAny(
  db: Queryable,
  text: string,
  table: string,
): Promise<string[]> {
  const explain = `explain (generic_plan, format json) ${text}`;
  const plan = await planOf(db, { text: explain, values: [] });
  return nodesOf(plan)
    .filter((node) => node['Relation Name'] === table)
    .map((node) => node['Index Cond'] ?? '');
}

async function planOf(db: Queryable, { text, values }: Statement): Promise<Plan> {
  const [row] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(text, values);
  const plan = row?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

function scannedBy(plan: Plan): string[] {
  return nodesOf(plan)
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => node['Relation Name'] ?? '');
}
