// The cost of claiming work across projects grows with the amount of waiting work only, also if the tables were last
// analyzed while nothing waited. Spec: Upload session (states); Staff, checks; Caching and response headers (purges).
import { beforeAll, expect, it } from 'vitest';
import { claimUpload } from '../../../runtime/db/claim-upload.ts';
import type { Database } from '../../../runtime/db/client.ts';
import { claimPurges } from '../../../runtime/db/purges.ts';
import { claimChecks } from '../../../runtime/db/scan-claims.ts';
import { useDatabase } from '../../support/database.ts';
import { countBuffers, noting } from '../../support/explaining.ts';
import { makeOrganization } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
const PROJECTS = 50;
const EACH = 20;
const id = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`;

const claims: [what: string, claim: (watched: Database) => Promise<unknown>][] = [
  ['an upload', (watched) => claimUpload(watched, { upload_id: null, lease_seconds: 10 })],
  ['checks', (watched) => claimChecks(watched, { limit: 10, lease_seconds: 10 })],
  ['purges', (watched) => claimPurges(watched, { limit: 10, lease_seconds: 10 })],
];
const buffers = new Map<string, number[]>();

/** Inserts `each` rows per project; with `over`, they are finished, so that no claim takes them. */
async function insert(projects: [first: number, last: number], each: number, over: boolean) {
  const rows = `from generate_series(${projects}) p, generate_series(1, ${each}) n`;
  const n = `p * 100000 + n`;
  const project = id('prj', 'p');
  const fill = [
    `insert into uploads (upload_id, project_id, file_slug, status, mode, content_type, size_bytes, ingest_key, error_code,
         expires_at, uploaded_at)
       select ${id('upl', n)}, ${project}, 'f' || n, ${over ? `'expired'` : `'uploaded'`}, 'direct', 'image/png', 1,
         'k' || ${n}, ${over ? `'session_expired'` : 'null'}, now(), now() ${rows}`,
    `insert into uploads (upload_id, project_id, file_slug, status, mode, content_type, size_bytes, ingest_key, error_code,
         expires_at, uploaded_at, attempt, lease_until)
       select ${id('upl', `50000 + ${n}`)}, ${project}, 'g' || n, ${over ? `'expired'` : `'processing'`}, 'direct',
         'image/png', 1, 'l' || ${n}, ${over ? `'session_expired'` : 'null'}, now(), now(), 1,
         ${over ? 'null' : `now() + interval '1 hour'`} ${rows}`,
    `insert into scanner_checks (check_id, project_id, file_id, revision, status, scanned_at)
       select ${id('chk', n)}, ${project}, ${id('file', n)}, 1, ${over ? `'clear', now()` : `'queued', null`} ${rows}`,
    `insert into purges (project_id, reason, sent_at) select ${project}, 'x', ${over ? 'now()' : 'null'} ${rows}`,
  ];
  await db.transaction(async (tx) => {
    // The rows are consistent: skip triggers and foreign keys.
    await tx.query('set local session_replication_role = replica');
    for (const text of fill) await tx.query(text);
  });
}

beforeAll(async () => {
  const { organization_id } = await makeOrganization(db);
  await db.query(
    `insert into projects (project_id, organization_id, project_slug, name)
     select ${id('prj', 'p')}, $1, 'p' || p, 'p' from generate_series(1, $2::int) p`,
    [organization_id, 3 * PROJECTS],
  );
  await insert([1, 1], 20_000, true);
  for (const table of ['uploads', 'scanner_checks', 'purges']) {
    await db.query(`alter table ${table} set (autovacuum_enabled = false)`);
    await db.query(`vacuum analyze ${table}`);
  }
  for (const first of [PROJECTS + 1, 2 * PROJECTS + 1]) {
    await insert([first, first + PROJECTS - 1], EACH, false);
    for (const [what, claim] of claims) {
      const { db: watched, statements } = noting(db);
      await claim(watched);
      const counts = await Promise.all(statements.map((statement) => countBuffers(db, statement)));
      const count = counts.reduce((sum, each) => sum + each, 0);
      buffers.set(what, [...(buffers.get(what) ?? []), count]);
    }
  }
}, 120_000);

it.each(claims)(
  'claiming %s costs less than three times as much when twice as many projects wait',
  (what) => {
    const [once, twice] = buffers.get(what) ?? [];
    expect(twice).toBeLessThan(3 * (once ?? 0));
  },
);
