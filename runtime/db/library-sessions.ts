// What a library session's token cannot contain: whether it was revoked, by its subject, key or library, and the
// project's current state. Spec: Library session; Rules 6.
import type { Queryable, Transaction } from './client.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';
import { prepared } from './prepared-statements.ts';
import { PROJECT_COLUMNS, type ProjectRow } from './projects.ts';
import { onlyRow } from './rows.ts';

export type LibrarySessionFacts = ProjectRow & {
  /** The status of the key that minted it; null: the key does not exist. */
  key_status: 'active' | 'revoked' | null;
  is_library_gone: boolean;
  /** In Unix seconds, by the database's clock. */
  revoked_at_seconds: number | null;
  signing_kid: string | null;
  signing_secret_sealed: Buffer | null;
};

export type SessionOfSubject = {
  project_id: string;
  key_id: string;
  library_id: string | null;
  uploaders: readonly Buffer[];
};

const EVERYBODY = Buffer.alloc(0);

const FACTS = prepared(
  `select ${PROJECT_COLUMNS}, m.status as key_status,
     s.kid as signing_kid, s.secret_sealed as signing_secret_sealed,
     $3::text is not null and not exists (select from libraries l
       where l.library_id = $3 and l.project_id = p.project_id and l.deleted_at is null) as is_library_gone,
     (select extract(epoch from max(v.revoked_at))::float8 from library_session_revocations v
      where v.project_id = p.project_id and v.uploader = any($4::bytea[])) as revoked_at_seconds
   from projects p join organizations o on o.organization_id = p.organization_id
   left join api_keys m on m.key_id = $2 and m.project_id = p.project_id
   left join signing_keys s on s.project_id = p.project_id and s.status = 'active'
   where p.project_id = $1`,
);

export async function findLibrarySessionFacts(
  db: Queryable,
  { project_id, key_id, library_id, uploaders }: SessionOfSubject,
): Promise<LibrarySessionFacts | undefined> {
  const values = [project_id, key_id, library_id, [...uploaders, EVERYBODY]];
  return (await db.query<LibrarySessionFacts>(FACTS, values))[0];
}

type Revocation = {
  project_id: string;
  /** Null: of everybody. */
  uploaders: readonly Buffer[] | null;
};

/** Returns the time of the revocation, by the database's clock. */
export async function upsertRevocation(
  tx: Transaction,
  { project_id, uploaders }: Revocation,
): Promise<Date> {
  const [row] = await tx.query<{ revoked_at: Date }>(
    `insert into library_session_revocations as v (project_id, uploader, revoked_at)
     select $1, uploader, clock_timestamp() from unnest($2::bytea[]) uploader
     on conflict (project_id, uploader) do update
       set revoked_at = greatest(v.revoked_at, excluded.revoked_at)
     returning revoked_at`,
    [project_id, uploaders ?? [EVERYBODY]],
  );
  if (row === undefined) throw new Error('a revocation of nobody');
  return row.revoked_at;
}

/** The remaining seconds of the pause after a revocation; 0: there is none. */
export async function findRevocationPause(
  db: Queryable,
  asked: { project_id: string; uploaders: readonly Buffer[]; pause_seconds: number },
): Promise<number> {
  const { project_id, uploaders, pause_seconds } = asked;
  const [row] = await db.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from max(revoked_at) + make_interval(secs => $3) - clock_timestamp()))::integer as seconds
     from library_session_revocations where project_id = $1 and uploader = any($2::bytea[])`,
    [project_id, [...uploaders, EVERYBODY], pause_seconds],
  );
  return Math.max(0, onlyRow(row).seconds ?? 0);
}

/** Returns how many were deleted. */
export function deleteOldRevocations(db: Queryable, ageSeconds: number): Promise<number> {
  return deleteRowsOlderThan(
    db,
    { table: 'library_session_revocations', column: 'revoked_at' },
    ageSeconds,
  );
}

/**
 * How many uploads a session has begun. Until the transaction ends no other process counts them.
 */
export async function lockSessionUploads(tx: Transaction, sessionId: string): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [sessionId]);
  const [row] = await tx.query<{ count: number }>(
    'select count(*) from uploads where library_session_id = $1',
    [sessionId],
  );
  return onlyRow(row).count;
}
