// Spec: Files; Conventions (lists). A page of a project with very many files costs as much as in a small one, by the
// plans and row counts of the statements that the API sends. TINTYPE_SOAK_FILES sets the number of files.
import { beforeAll, describe, expect, it } from 'vitest';
import { printCursor } from '../../../runtime/core/cursor.ts';
import type { ProjectRecord } from '../../../runtime/core/resources/project.ts';
import { createDatabase } from '../../../runtime/db/client.ts';
import { createProject, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { type Explained, explaining } from '../../support/explaining.ts';
import { makeManyFiles } from '../../support/many-files.ts';

/** At least so many that one file has the prefix `rare-`. */
const FILES = Number(process.env['TINTYPE_SOAK_FILES'] ?? 120_000);
const FILL_MS = 240_000;
const LIMIT = 50;
/** On a small page, other rows dominate: at most BESIDES, whatever the size of the project. */
const SMALL = 2;
const BESIDES = 50;
const api = useApi();
const owner = api.session(newSubject());
let project: ProjectRecord;

beforeAll(async () => {
  project = await createProject(owner);
  const patient = { queryTimeoutMs: FILL_MS, idleTransactionTimeoutMs: FILL_MS };
  const db = createDatabase({ url: api.databaseUrl(), ...patient });
  await makeManyFiles(db, { project_id: project.project_id, count: FILES });
  await db.close();
}, FILL_MS);

type Filter = { status?: string; q?: string };
type Asked = Filter & { limit: number; below?: number };

/** Lists one page, and returns how the database executed the statements. */
async function list({ limit, below, ...filter }: Asked) {
  const { db, explained } = explaining(api.deps().db, ['files', 'file_revisions']);
  api.change({ db });
  const cursor = below === undefined ? {} : { cursor: cursorBelow(below, filter) };
  const query = new URLSearchParams({ ...filter, ...cursor, limit: String(limit) });
  const { status, body } = await owner(
    'GET',
    `/v1/projects/${project.project_slug}/files?${query}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  const slugs = body.items.map(({ file_slug }: { file_slug: string }) => file_slug);
  return { slugs: slugs as string[], work: together(explained) };
}

function together(explained: readonly Explained[]) {
  expect(explained.length).toBeGreaterThan(0);
  return {
    rows_read: explained.reduce((sum, { rows_read }) => sum + rows_read, 0),
    buffers: explained.reduce((sum, { buffers }) => sum + buffers, 0),
    scans: explained.flatMap(({ scans }) => scans),
    texts: explained.map(({ text }) => text).join(';'),
  };
}

/** The cursor after the file at this position, because paging there would take too long. */
function cursorBelow(
  position: number,
  { status = null, q = null }: { [of in keyof Filter]: string | null },
) {
  const scope = {
    route: '/v1/projects/{slug}/files',
    project_id: project.project_id,
    sort: 'newest',
    filters: JSON.stringify({ status, q, library: null }),
  };
  return printCursor(api.deps().cursorKeys, scope, [String(position)]);
}

/** Reads the same page with a simple query, for comparison. */
async function listSlowly({ limit, below = FILES + 1, status, q }: Asked): Promise<string[]> {
  const rows = await api.db.query<{ file_slug: string }>(
    `select file_slug from files where project_id = $1 and position < $2
       and case when $3::text is null then status <> 'deleted' else status = $3 end
       and starts_with(file_slug, $4) order by position desc limit $5`,
    [project.project_id, below, status ?? null, q ?? '', limit],
  );
  return rows.map(({ file_slug }) => file_slug);
}

const statuses = [undefined, 'ready', 'blocked', 'deleted'];
/** These match between nearly all files and none; `old-` matches only the oldest. */
const prefixes = [undefined, 'i', 'img-00a', 'mid-', 'rare-', 'rare-7', 'old-', 'none'];
const places = [undefined, FILES * 0.97, FILES * 0.4 + 5, 7];
/** Compares few pages, because the query is slow; the database tests compare every filter. */
const compared = [undefined, 7];
const filters = statuses.flatMap((status) => prefixes.map((q) => ({ status, q })));

describe(`one page of a list of ${FILES} files`, () => {
  it.each(filters)(
    'with status $status and q $q scans only indexes and reads few rows, however deep the page is',
    async (filter) => {
      const set = Object.fromEntries(
        Object.entries(filter).filter(([, value]) => value !== undefined),
      );
      for (const below of places) {
        const asked = { ...set, limit: LIMIT, ...(below === undefined ? {} : { below }) };
        const { slugs, work } = await list(asked);
        // Per row: root, branch and leaf of two indexes, and the row itself.
        if (filter.q === undefined) expect(work.buffers).toBeLessThanOrEqual(10 * LIMIT);
        if (compared.includes(below)) expect(slugs).toEqual(await listSlowly(asked));
        expect(work.rows_read, work.texts).toBeLessThanOrEqual(4 * LIMIT);
        expect(work.scans.filter((scan) => !/^Index (Only )?Scan/.test(scan))).toEqual([]);
      }
      const { work } = await list({ ...set, limit: SMALL });
      expect(work.rows_read, work.texts).toBeLessThanOrEqual(3 * SMALL + BESIDES);
    },
  );
});
