// What minting a signed URL reads and writes, each in one statement, as mints are frequent. Spec: Signing keys and
// signed URLs.
import type { FileStatus } from '../core/states.ts';
import { AUDIT_COLUMNS, auditValues, type NewAuditEntry } from './audit-log.ts';
import type { Queryable } from './client.ts';
import { prepared } from './prepared-statements.ts';
import {
  RATE_WINDOW_CTE,
  RATE_WINDOW_SELECT,
  type RateAnswer,
  type RateRequest,
  rateAnswer,
  rateValues,
} from './rate-windows.ts';
import { onlyRow } from './rows.ts';

/** Null: no live file has this slug, or no key is active. */
export type MintFacts = {
  file_status: FileStatus | null;
  kid: string | null;
  secret_sealed: Buffer | null;
  /** By the database's clock, which every process uses. */
  now_seconds: number;
};

const FACTS = prepared(
  `select f.status as file_status, k.kid, k.secret_sealed,
     extract(epoch from clock_timestamp())::float8 as now_seconds from (select) nothing
   left join files f on f.project_id = $1 and f.file_slug = $2 and f.status <> 'deleted'
   left join signing_keys k on k.project_id = $1 and k.status = 'active'`,
);

export async function findMintFacts(
  db: Queryable,
  { project_id, file_slug }: { project_id: string; file_slug: string },
): Promise<MintFacts> {
  const [facts] = await db.query<MintFacts>(FACTS, [project_id, file_slug]);
  return onlyRow(facts);
}

const INSERT = prepared(
  `${RATE_WINDOW_CTE}, noted as (
     insert into audit_log (${AUDIT_COLUMNS})
     select $6, $7, $8, $9, $10, $11, $12::jsonb, $13::jsonb, $14 from taken
   )
   ${RATE_WINDOW_SELECT}`,
);

/** Counts a mint and records it in the audit log; a mint over the limit does neither. */
export async function insertMint(
  db: Queryable,
  { rate, entry }: { rate: RateRequest; entry: NewAuditEntry },
): Promise<RateAnswer> {
  const values = [...rateValues(rate), ...auditValues(entry)];
  return rateAnswer(await db.query<RateAnswer>(INSERT, values), rate);
}
