import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { insertPurge } from '../../../runtime/db/purges.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import type { CdnPurge } from '../../../runtime/platform/cdn/cdn.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const queue = table['purge-queue'];
let project: ProjectRow;
let jobs: TestJobs;
let taken: CdnPurge[];
let isDown: boolean;

beforeAll(async () => {
  project = await makeProject(db);
  jobs = await makeJobs(db, async (purge) => {
    if (isDown) throw new Error('the CDN answers 500');
    taken.push(purge);
  });
});
afterAll(() => jobs.close());
beforeEach(async () => {
  taken = [];
  isDown = false;
  await db.query('delete from purges');
});

const purge = (file_slug: string | null, repeat_after_seconds = 45) =>
  db.transaction((tx) =>
    insertPurge(tx, {
      project_id: project.project_id,
      file: file_slug === null ? null : { file_id: `file_of_${file_slug}`, file_slug },
      reason: 'test',
      repeat_after_seconds,
    }),
  );

const open = () => db.query<{ attempt: number }>('select * from purges where sent_at is null');

describe('the purge queue', () => {
  it('sends each purge at once and again at its second time, and then never more', async () => {
    await purge('hero.jpg');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
    expect(taken).toMatchObject([
      { project_id: project.project_id, project_slug: project.project_slug, file_slug: 'hero.jpg' },
    ]);
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
    await db.query('update purges set run_after = now() where sent_at is null');
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
    expect(await open()).toEqual([]);
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
  });

  it('marks both as done where there is no CDN', async () => {
    const without = await makeJobs(db);
    await purge(null, 0);
    expect(await without.run(queue)).toEqual({ sent: 2, failed: 0 });
    expect(await open()).toEqual([]);
    await without.close();
  });

  it('keeps what the CDN did not take and tries it again later', async () => {
    isDown = true;
    await purge('hero.jpg');
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 1 });
    isDown = false;
    expect(await jobs.run(queue)).toEqual({ sent: 0, failed: 0 });
    await db.query(`update purges set run_after = now() where attempt = 1`);
    expect(await jobs.run(queue)).toEqual({ sent: 1, failed: 0 });
  });

  it('by two at once sends each once', async () => {
    for (let n = 0; n < 150; n += 1) await purge(`f-${n}`);
    const [one, other] = await Promise.all([jobs.run(queue), jobs.run(queue)]);
    expect((one.sent ?? 0) + (other.sent ?? 0)).toBe(150);
    expect(new Set(taken.map(({ file_slug }) => file_slug)).size).toBe(150);
    expect(taken).toHaveLength(150);
  });
});
