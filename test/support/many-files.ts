/**
 * Creates a project with very many files in the database, for tests of lists at scale. Slugs and states are where lists
 * have most work: the newest files are deleted, and the prefix `old-` is only on the oldest, `mid-` on one in a
 * thousand, `rare-` on one in a hundred thousand, and `img-` on nearly all.
 */
import type { Database, Transaction } from '../../runtime/db/client.ts';
import { id } from './rows.ts';

/** Shares of all files, from the newest and the oldest. */
const NEWEST_DELETED = 0.02;
const OLDEST_BLOCKED = 0.05;

/**
 * Returns when all rows exist and are indexed and analyzed. For speed, indexes are built after the
 * rows; constraints that no list uses are not restored: checks, foreign keys, and the unique keys
 * of a revision's objects.
 */
export async function makeManyFiles(
  db: Database,
  { project_id, count }: { project_id: string; count: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`set local maintenance_work_mem = '256MB'`);
    const made = await dropIndexes(tx);
    await insertFiles(tx, { project_id, count });
    await insertRevisions(tx, project_id);
    for (const { definition } of made) await tx.query(definition);
  });
  await db.query('vacuum (analyze) files');
  await db.query('vacuum (analyze) file_revisions');
}

/** Drops indexes and constraints, and returns the statements that restore those that lists use. */
async function dropIndexes(tx: Transaction): Promise<{ definition: string }[]> {
  const made = await tx.query<{ undone: string; definition: string }>(
    `select format('drop index %I', indexname) as undone, indexdef as definition
     from pg_indexes where tablename in ('files', 'file_revisions')
       and indexname not in (select conname from pg_constraint)
     union all
     select format('alter table %s drop constraint %I cascade', conrelid::regclass, conname),
       case when contype in ('p', 'u') and not conname = any($1) then
         format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) end
     from pg_constraint
     where conrelid in ('files'::regclass, 'file_revisions'::regclass) and contype in ('p', 'u', 'c', 'f')`,
    [LEFT_OUT],
  );
  for (const { undone } of made)
    await tx.query(undone.replace('constraint', 'constraint if exists'));
  return made.filter(({ definition }) => definition !== null);
}

const LEFT_OUT = [
  'file_revisions_one_an_upload',
  'file_revisions_object_key_key',
  'file_revisions_raw_object_key_key',
];

async function insertFiles(
  tx: Transaction,
  { project_id, count }: { project_id: string; count: number },
): Promise<void> {
  const before = id('file').slice(0, -10);
  await tx.query(
    `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position,
       blocked_by, blocked_at, deleted_at, published_at, created_at, updated_at)
     select $1 || lpad(n::text, 10, '0'), $2, kind || '-' || lpad(to_hex(n::int # 1431655765), 8, '0'),
       case when is_deleted then 'deleted' when is_blocked then 'blocked' else 'ready' end, 1, 1000, n,
       case when is_blocked then 'staff' end, case when is_blocked then at end,
       case when is_deleted then at end, at, at, at
     from (
       select n, timestamptz '2026-01-01' + n * interval '1 second' as at,
         n > $3::bigint * (1 - $4::float8) or n % 10 = 7 as is_deleted,
         n <= $3 * $5::float8 and n % 10 <> 7 as is_blocked,
         case when n <= $3 / 50 then 'old' when n % 100000 = 1 then 'rare'
           when n % 1000 = 2 then 'mid' else 'img' end as kind
       from generate_series(1, $3) n
     ) row`,
    [before, project_id, count, NEWEST_DELETED, OLDEST_BLOCKED],
  );
}

async function insertRevisions(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(
    `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
       source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless,
       dominant_color)
     select file_id, 1, file_id, file_id, 'image/png', 1000,
       'x', 'image/png', 1000, 'x', 640, 480, false, false, '#336699'
     from files where project_id = $1`,
    [projectId],
  );
}
