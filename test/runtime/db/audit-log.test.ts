// Audit log pages filtered by project, organization, request or action read about as many rows as they show, in a large
// log. Spec: Staff (all require Staff).
import { beforeAll, expect, it } from 'vitest';
import { listAuditEntries } from '../../../runtime/db/audit-log.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { explaining } from '../../support/explaining.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
const LIMIT = 20;
let busy: ProjectRow;
let quiet: ProjectRow;

/** Most entries belong to one project; those of the other project are much older. */
beforeAll(async () => {
  const [one, other] = [await makeProject(db), await makeProject(db)];
  [busy, quiet] = [one, other];
  const entries = (project_id: string, from: number, count: number) =>
    db.query(
      `insert into audit_log (project_id, actor_kind, action, target, created_at)
       select $1, 'key', 'signed_url.mint', 'f' || n, now() - n * interval '1 second'
       from generate_series($2::int, $3::int) n`,
      [project_id, from, from + count - 1],
    );
  await entries(one.project_id, 1, 20_000);
  await entries(other.project_id, 30_000, 200);
  await db.query(
    `update audit_log set request_id = 'req_' || (created_at - now()) where project_id = $1`,
    [one.project_id],
  );
  await db.query(
    `update audit_log set request_id = 'req_asked' where target in ('f19998', 'f30010')`,
  );
  await db.query(
    `update audit_log set action = 'file.delete' where target in ('f19997', 'f30011')`,
  );
  await db.query('analyze');
}, 120_000);

const parts = [
  ['project_slug', 'wrote most of it', () => busy],
  ['project_slug', 'wrote little of it, long ago', () => quiet],
  ['organization_id', 'wrote most of it', () => busy],
  ['organization_id', 'wrote little of it, long ago', () => quiet],
] as const;
it.each(parts)(
  'a page of the audit log for one %s that %s reads few rows',
  async (filter, _what, project) => {
    const { db: explainedDb, explained } = explaining(db, ['audit_log']);
    const asked = project()[filter];
    const { rows } = await listAuditEntries(explainedDb, {
      limit: LIMIT,
      after: null,
      [filter]: asked,
    });
    expect(rows.map((row) => row[filter])).toEqual(Array(LIMIT).fill(asked));
    expect(explained).toHaveLength(1);
    expect(explained[0]?.rows_read).toBeLessThanOrEqual(2 * LIMIT);
  },
);

it('a page of the audit log for one request reads only the entries of that request', async () => {
  const { db: explainedDb, explained } = explaining(db, ['audit_log']);
  const { rows } = await listAuditEntries(explainedDb, {
    ...{ limit: LIMIT, after: null, request_id: 'req_asked' },
  });
  expect(rows.map(({ target }) => target)).toEqual(['f19998', 'f30010']);
  expect(explained).toHaveLength(1);
  expect(explained[0]?.rows_read).toBeLessThanOrEqual(2);
});

it.each([
  ['was done twice, long ago', 'file.delete', ['f19997', 'f30011']],
  ['nobody ever did', 'project.suspend', []],
])(
  'a page of the audit log for an action that %s reads only the entries of that action',
  async (_what, action, targets) => {
    const { db: explainedDb, explained } = explaining(db, ['audit_log']);
    const { rows } = await listAuditEntries(explainedDb, { limit: LIMIT, after: null, action });
    expect(rows.map(({ target }) => target)).toEqual(targets);
    expect(explained).toHaveLength(1);
    expect(explained[0]?.rows_read).toBeLessThanOrEqual(2);
  },
);
