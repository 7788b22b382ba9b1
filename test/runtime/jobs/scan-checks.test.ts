// Spec: File (status), the automatic scanner; Staff, checks; Other state sets.
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordScanResult } from '../../../runtime/actions/record-scan-result.ts';
import { findFileById } from '../../../runtime/db/files.ts';
import { type ProjectRow, updateProject } from '../../../runtime/db/projects.ts';
import { claimChecks } from '../../../runtime/db/scan-claims.ts';
import type { Queue } from '../../../runtime/platform/queue/queue.ts';
import type { Scanner } from '../../../runtime/platform/scanner/scanner.ts';
import { useDatabase } from '../../support/database.ts';
import { makeFile, makeProject, must } from '../../support/rows.ts';
import { says, scores } from '../../support/scanner-server.ts';
import { makeScans, type Scans } from '../../support/scans.ts';

const { db } = useDatabase();
let scans: Scans;
let project: ProjectRow;

beforeAll(async () => {
  scans = await makeScans(db);
});
afterAll(() => scans.close());
beforeEach(async () => {
  await db.query('delete from scanner_checks');
  scans.server.seen.length = 0;
  scans.server.answer(scores({ nudity: 0.1 }));
  project = await makeProject(db);
});

const autoBlock = () =>
  updateProject(db, { project_id: project.project_id, changes: { nudity_auto_block: true } });
const checks = () =>
  db.query(
    'select revision, status, review, flags, scores, attempts from scanner_checks order by revision',
  );
const statusOf = async (file_id: string) => must(await findFileById(db, file_id)).status;
const waitIsOver = () => db.query(`update scanner_checks set lease_until = now() - interval '1 s'`);
const ONE = { clear: 0, flagged: 0, failed: 0, late: 0, put_off: 0 };

describe('publishing', () => {
  it('queues a check for each revision if there is a scanner', async () => {
    await scans.publish(project, 'hero.jpg');
    await scans.publish(project, 'hero.jpg');
    const queued = { status: 'queued', review: 'unreviewed', flags: [], scores: {}, attempts: 0 };
    expect(await checks()).toEqual([
      { revision: 1, ...queued },
      { revision: 2, ...queued },
    ]);
  });

  it('queues no check without a scanner', async () => {
    await makeFile(db, project, { file_slug: 'other.jpg' });
    expect(await checks()).toEqual([]);
    expect(await scans.scan()).toEqual(ONE);
  });
});

describe('claiming checks', () => {
  it('alternates between projects, however many images one of them brings', async () => {
    const busy = await makeProject(db);
    for (let count = 0; count < 12; count++) await scans.publish(busy, `many-${count}.jpg`);
    await scans.publish(project, 'one.jpg');
    const claimed = await claimChecks(db, { limit: 4, lease_seconds: 60 });
    expect(claimed).toHaveLength(4);
    expect(claimed.filter(({ project_id }) => project_id === project.project_id)).toHaveLength(1);
    const next = await claimChecks(db, { limit: 4, lease_seconds: 60 });
    expect(next.map(({ project_id }) => project_id)).toEqual(Array(4).fill(busy.project_id));
  });

  it('gives different checks to concurrent callers, oldest first', async () => {
    for (let count = 0; count < 8; count++) await scans.publish(project, `many-${count}.jpg`);
    // In the order of their ids, as the clock may have told several the same time.
    const aged = await db.query<{ check_id: string }>(
      `update scanner_checks c set created_at = now() - make_interval(mins => 9 - n)
       from (select check_id, row_number() over (order by check_id)::int as n from scanner_checks) o
       where o.check_id = c.check_id returning c.check_id`,
    );
    const both = await Promise.all(
      [1, 2].map(() => claimChecks(db, { limit: 3, lease_seconds: 60 })),
    );
    const ids = both.flat().map(({ check_id }) => check_id);
    const oldest = aged.map(({ check_id }) => check_id).toSorted();
    expect(ids.toSorted()).toEqual(oldest.slice(0, Math.max(3, ids.length)));
    const rest = await claimChecks(db, { limit: 9, lease_seconds: 60 });
    expect(ids.length + rest.length).toBe(8);
  });
});

describe('a scan', () => {
  it('sends the scanner one small JPEG of the whole image', async () => {
    await scans.publish(project, 'hero.jpg');
    expect(await scans.scan()).toEqual({ ...ONE, clear: 1 });
    expect(await scans.scan()).toEqual(ONE);
    expect(scans.server.seen).toHaveLength(1);
    const { format, width, height } = await sharp(scans.server.seen[0]?.bytes).metadata();
    expect([format, width, height]).toEqual(['jpeg', 512, 341]);
    expect(await checks()).toMatchObject([{ status: 'clear', scores: { nudity: 0.1 } }]);
  });

  it('continues until nothing is waiting, however few checks are claimed at a time', async () => {
    for (let count = 0; count < 5; count++) await scans.publish(project, `many-${count}.jpg`);
    expect(await scans.scan()).toEqual({ ...ONE, clear: 5 });
  });

  it('flags each category that reaches its threshold, and blocks nothing by itself', async () => {
    scans.server.answer(scores({ nudity: 0.85, violence: 0.6, hats: 1 }));
    const { file_id } = await scans.publish(project, 'hero.jpg');
    expect(await scans.scan({ thresholds: { violence: 0.6 } })).toEqual({ ...ONE, flagged: 1 });
    expect(await checks()).toMatchObject([
      { status: 'flagged', review: 'unreviewed', flags: ['nudity', 'violence'] },
    ]);
    expect(await statusOf(file_id)).toBe('ready');
  });

  it('uses the thresholds of the deployment, even for nudity', async () => {
    scans.server.answer(scores({ nudity: 0.9 }));
    await scans.publish(project, 'hero.jpg');
    expect(await scans.scan({ thresholds: { nudity: 0.95 } })).toEqual({ ...ONE, clear: 1 });
  });

  it('that flags nudity blocks the file if auto-blocking is on, with one audit entry and a purge', async () => {
    await autoBlock();
    scans.server.answer(scores({ nudity: 0.97 }));
    const { file_id } = await scans.publish(project, 'hero.jpg');
    await scans.scan();
    expect(await findFileById(db, file_id)).toMatchObject({
      status: 'blocked',
      blocked_by: 'scanner',
      blocked_reason: 'nudity',
    });
    const audit = 'select actor_kind, actor_id, action from audit_log where target = $1 and action';
    expect(await db.query(`${audit} = 'file.block'`, [file_id])).toEqual([
      { actor_kind: 'system', actor_id: 'scanner', action: 'file.block' },
    ]);
    const purges = 'select reason from purges where file_id = $1';
    expect(await db.query(purges, [file_id])).toEqual(Array(2).fill({ reason: 'file_blocked' }));
  });

  it('blocks for nudity only', async () => {
    await autoBlock();
    scans.server.answer(scores({ violence: 1 }));
    const { file_id } = await scans.publish(project, 'hero.jpg');
    await scans.scan({ thresholds: { violence: 0.5 } });
    expect(await statusOf(file_id)).toBe('ready');
  });

  it('of an image that was replaced meanwhile does not block the new one, which has its own scan', async () => {
    await autoBlock();
    const { file_id } = await scans.publish(project, 'hero.jpg');
    const [check] = await claimChecks(db, { limit: 1, lease_seconds: 60 });
    await scans.publish(project, 'hero.jpg');
    const result = { check: must(check), scores: { nudity: 1 }, thresholds: {} };
    expect(await db.transaction((tx) => recordScanResult(tx, result))).toBe('flagged');
    expect(await statusOf(file_id)).toBe('ready');
    await scans.scan();
    expect(await checks()).toMatchObject([{ status: 'flagged' }, { status: 'clear' }]);
  });
});

describe('a late scan result', () => {
  const nude = (check: Awaited<ReturnType<typeof claimChecks>>[number]) =>
    db.transaction((tx) => recordScanResult(tx, { check, scores: { nudity: 1 }, thresholds: {} }));

  it('is ignored once another scan has begun or ended', async () => {
    await autoBlock();
    const { file_id } = await scans.publish(project, 'hero.jpg');
    const [lost] = await claimChecks(db, { limit: 1, lease_seconds: 0 });
    const [second] = await claimChecks(db, { limit: 1, lease_seconds: 60 });
    expect(await nude(must(lost))).toBe('late');
    const clear = { check: must(second), scores: {}, thresholds: {} };
    await db.transaction((tx) => recordScanResult(tx, clear));
    expect(await nude(must(lost))).toBe('late');
    expect(await nude(must(second))).toBe('late');
    expect(await checks()).toMatchObject([{ status: 'clear', flags: [], attempts: 2 }]);
    expect(await statusOf(file_id)).toBe('ready');
  });

  it('is recorded if no other scan has begun, even after its lease', async () => {
    await scans.publish(project, 'hero.jpg');
    const [lost] = await claimChecks(db, { limit: 1, lease_seconds: 0 });
    expect(await nude(must(lost))).toBe('flagged');
  });

  it('does not arise from concurrent scans, which scan each image once', async () => {
    for (const slug of ['a', 'b', 'c', 'd', 'e', 'f']) await scans.publish(project, `${slug}.jpg`);
    const counts = await Promise.all([scans.scan(), scans.scan(), scans.scan()]);
    expect(counts.reduce((sum, { clear }) => sum + clear, 0)).toBe(6);
    expect(scans.server.seen).toHaveLength(6);
  });
});

describe('a scanner', () => {
  it('that is unavailable is asked again later, and fails no check within a day', async () => {
    scans.server.answer(says(503, '', { 'retry-after': '120' }));
    await scans.publish(project, 'hero.jpg');
    for (let n = 1; n <= 7; n += 1) {
      expect(await scans.scan()).toEqual({ ...ONE, put_off: 1 });
      expect(await scans.scan()).toEqual(ONE);
      await waitIsOver();
    }
    expect(await checks()).toMatchObject([{ status: 'queued', attempts: 7 }]);
    scans.server.answer(scores({}));
    expect(await scans.scan()).toEqual({ ...ONE, clear: 1 });
  });

  it('that sends Retry-After is not asked earlier', async () => {
    scans.server.answer(says(503, '', { 'retry-after': '120' }));
    await scans.publish(project, 'hero.jpg');
    await scans.scan();
    const [row] = await db.query<{ is_so: boolean }>(
      `select lease_until between now() + interval '100 s' and now() + interval '121 s' as is_so from scanner_checks`,
    );
    expect(row?.is_so).toBe(true);
  });

  it('that was unavailable for a day fails the check', async () => {
    scans.server.answer(says(503));
    await scans.publish(project, 'hero.jpg');
    await db.query(`update scanner_checks set created_at = now() - interval '25 hours'`);
    expect(await scans.scan()).toEqual({ ...ONE, failed: 1 });
    expect(await checks()).toMatchObject([{ status: 'failed', flags: [], scores: {} }]);
    expect(await scans.scan()).toEqual(ONE);
  });

  it('that refuses an image is sent it five times before the check fails', async () => {
    scans.server.answer(says(422));
    await scans.publish(project, 'hero.jpg');
    for (let n = 1; n <= 4; n += 1) {
      expect(await scans.scan()).toEqual({ ...ONE, put_off: 1 });
      await waitIsOver();
    }
    expect(await scans.scan()).toEqual({ ...ONE, failed: 1 });
    expect(await checks()).toMatchObject([{ status: 'failed', attempts: 5 }]);
  });

  it('that was often unavailable and then refuses an image once is sent it again', async () => {
    await scans.publish(project, 'hero.jpg');
    scans.server.answer(says(503));
    for (let n = 1; n <= 6; n += 1) {
      await scans.scan();
      await waitIsOver();
    }
    scans.server.answer(says(422));
    expect(await scans.scan()).toEqual({ ...ONE, put_off: 1 });
    await waitIsOver();
    scans.server.answer(scores({}));
    expect(await scans.scan()).toEqual({ ...ONE, clear: 1 });
  });

  it.each([
    ['timeout', 'put_off'],
    ['out_of_memory', 'failed'],
  ])('whose image failed to render five times with %s has its check %s', async (reason, end) => {
    await scans.publish(project, 'hero.jpg');
    const queue = { call: async () => ({ outcome: 'undrawable', reason }) } as unknown as Queue;
    for (let n = 1; n <= 4; n += 1) {
      expect(await scans.scan({ queue })).toEqual({ ...ONE, put_off: 1 });
      await waitIsOver();
    }
    expect(await scans.scan({ queue })).toEqual({ ...ONE, [end]: 1 });
  });

  it('is not sent images that are missing or cannot be rendered', async () => {
    await scans.forget(await scans.publish(project, 'gone.jpg'));
    await scans.publish(project, 'broken.jpg', Buffer.from('no picture at all'));
    expect(await scans.scan()).toEqual({ ...ONE, put_off: 2 });
    expect(scans.server.seen).toEqual([]);
  });

  it('that is resting is not asked, and no check is claimed for it', async () => {
    await scans.publish(project, 'hero.jpg');
    const scanner = { isResting: () => true } as Scanner;
    expect(await scans.scan({ scanner })).toEqual(ONE);
    expect(await checks()).toMatchObject([{ status: 'queued', attempts: 0 }]);
  });
});
