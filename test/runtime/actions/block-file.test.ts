// Spec: States and transitions, File; Event kinds, file.blocked and file.unblocked; Watermark preset.
import { beforeEach, describe, expect, it } from 'vitest';
import { blockFile, unblockFile } from '../../../runtime/actions/block-file.ts';
import { putWatermarkPreset } from '../../../runtime/actions/change-watermark-preset.ts';
import { deleteFile } from '../../../runtime/actions/delete-file.ts';
import { liftAutoBlocks } from '../../../runtime/actions/lift-auto-blocks.ts';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { type FileRow, findFileById } from '../../../runtime/db/files.ts';
import { findProject, type ProjectRow, updateProject } from '../../../runtime/db/projects.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import {
  id,
  makeFile,
  makeProcessing,
  makeProject,
  must,
  newRevision,
} from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 24 });
const actor = { actor_kind: 'staff', actor_id: 'user_staff', request_id: 'request-1' } as const;
const file_slug = 'hero.png';
let project: ProjectRow;

beforeEach(async () => {
  project = await makeProject(db);
  const callback_url = 'https://shop.example/hook';
  const { project_id } = project;
  project = must(
    await updateProject(db, {
      project_id,
      changes: { callback_url, callback_secret_sealed: Buffer.alloc(32) },
    }),
  );
});

const make = () => makeFile(db, project, { file_slug });
const block = (file_id: string, by: 'staff' | 'scanner' = 'staff', reason = 'spam') =>
  db.transaction((tx) => blockFile(tx, { file_id, blocked_by: by, reason, actor }));
const unblock = (file_id: string) => db.transaction((tx) => unblockFile(tx, { file_id, actor }));
const remove = () => deleteFile(db, { project_id: project.project_id, file_slug, actor });
const current = async (file_id: string): Promise<FileRow> => must(await findFileById(db, file_id));

type SentWebhook = { delivery_id: string; event: string; data: Record<string, unknown> };

async function listWebhooks(): Promise<SentWebhook[]> {
  const rows = await db.query<{ delivery_id: string; event: string; body: string }>(
    `select delivery_id, event, body from webhook_deliveries where project_id = $1
     and event like 'file.%' order by created_at, delivery_id`,
    [project.project_id],
  );
  return rows.map(({ body, ...row }) => ({ ...row, data: JSON.parse(body).data }));
}

async function rowsOf(table: 'purges' | 'audit_log'): Promise<Record<string, unknown>[]> {
  return db.query(`select * from ${table} where project_id = $1 order by 1`, [project.project_id]);
}

describe('blocking a file', () => {
  it('blocks and purges it, sends the reason to the callback, and records who did it', async () => {
    const { file_id } = await make();
    const blocked = await block(file_id, 'staff', '  spam\u202e  ');
    expect(blocked).toMatchObject({
      status: 'blocked',
      blocked_by: 'staff',
      blocked_reason: 'spam',
      block_count: 1,
    });
    expect(await listWebhooks()).toEqual([
      {
        delivery_id: `file.blocked:${file_id}`,
        event: 'file.blocked',
        data: { project_id: project.project_id, file_id, file_slug, revision: 1, reason: 'spam' },
      },
    ]);
    const purges = await rowsOf('purges');
    expect(purges).toMatchObject([
      { file_id, file_slug, reason: 'file_blocked' },
      { file_id, file_slug, reason: 'file_blocked' },
    ]);
    expect(await rowsOf('audit_log')).toMatchObject([
      { action: 'file.block', target: file_id, ...actor },
    ]);
  });

  it('that is already blocked changes nothing and sends no event', async () => {
    const { file_id } = await make();
    await block(file_id, 'staff', 'first');
    const before = [await current(file_id), await listWebhooks(), await rowsOf('purges')];
    await block(file_id, 'staff', ' first ');
    await block(file_id, 'scanner', 'second');
    expect([await current(file_id), await listWebhooks(), await rowsOf('purges')]).toEqual(before);
    expect(await rowsOf('audit_log')).toHaveLength(1);
  });

  it('by staff again for another reason keeps the later reason and audits both, without an event', async () => {
    const { file_id } = await make();
    const first = await block(file_id, 'staff', 'first');
    const told_before = [await listWebhooks(), await rowsOf('purges')];
    const { blocked_at = null } = first ?? {};
    expect(await block(file_id, 'staff', ' second ')).toMatchObject({
      ...{ status: 'blocked', blocked_by: 'staff', blocked_reason: 'second' },
      ...{ blocked_at, block_count: 1 },
    });
    expect([await listWebhooks(), await rowsOf('purges')]).toEqual(told_before);
    expect((await rowsOf('audit_log')).slice(1)).toMatchObject([
      {
        ...{ action: 'file.block', target: file_id, ...actor },
        before: { blocked_by: 'staff', reason: 'first' },
        after: { file_slug, blocked_by: 'staff', reason: 'second' },
      },
    ]);
  });

  it('by staff over a scanner block makes it a block by staff, without an event', async () => {
    const { file_id } = await make();
    await block(file_id, 'scanner', 'nudity');
    const taken = await block(file_id, 'staff', 'worse');
    expect(taken).toMatchObject({ blocked_by: 'staff', blocked_reason: 'worse', block_count: 1 });
    expect(await listWebhooks()).toHaveLength(1);
    expect(await rowsOf('audit_log')).toMatchObject([
      {},
      {
        action: 'file.block',
        before: { blocked_by: 'scanner', reason: 'nudity' },
        after: { blocked_by: 'staff', reason: 'worse' },
      },
    ]);
    expect((await block(file_id, 'scanner', 'nudity'))?.blocked_by).toBe('staff');
  });

  it('removes the watermark presets that use it, clears the default, and purges the whole project', async () => {
    const { file_id } = await make();
    const preset = id('wm');
    await db.query(
      `insert into watermark_presets (watermark_preset_id, project_id, name, file_id, opacity)
       values ($1, $2, 'logo', $3, 40)`,
      [preset, project.project_id, file_id],
    );
    const { project_id } = project;
    const changes = { default_watermark_preset_id: preset };
    await updateProject(db, { project_id, changes });
    await block(file_id);
    const after = must(await findProject(db, project_id));
    expect(after.default_watermark_preset_id).toBeNull();
    expect(after.generation).toBe(project.generation + 1);
    expect(await rowsOf('purges')).toMatchObject([{ file_slug: null }, { file_slug: null }]);
    expect(await rowsOf('audit_log')).toMatchObject([
      {
        action: 'watermark_preset.delete',
        target: preset,
        before: { name: 'logo', file_id, file_slug, x_offset: 0, y_offset: 0, opacity: 40 },
        after: { because: 'file_blocked' },
        ...actor,
      },
      {
        action: 'project.update',
        before: { default_watermark_preset_id: preset },
        after: { default_watermark_preset_id: null },
        ...actor,
      },
      { action: 'file.block', after: { watermark_preset_ids: [preset] } },
    ]);
  });

  it('has no effect if the file is deleted or does not exist', async () => {
    const { file_id } = await make();
    await remove();
    for (const each of [file_id, id('file')]) {
      expect(await block(each)).toBeUndefined();
      expect(await unblock(each)).toBeUndefined();
    }
    expect(await listWebhooks()).toEqual([]);
  });

  it('cuts a long reason to what fits into a webhook', async () => {
    const { file_id } = await make();
    const blocked = await block(file_id, 'staff', '🧨'.repeat(900));
    expect([...(blocked?.blocked_reason ?? '')]).toHaveLength(500);
    const [row] = await db.query<{ bytes: number }>(
      'select octet_length(body) as bytes from webhook_deliveries where project_id = $1',
      [project.project_id],
    );
    expect(row?.bytes).toBeLessThanOrEqual(2000);
  });

  it('records no event if the project has no callback URL', async () => {
    const { project_id } = project;
    const changes = { callback_url: null, callback_secret_sealed: null };
    await updateProject(db, { project_id, changes });
    await block((await make()).file_id);
    expect(await listWebhooks()).toEqual([]);
  });
});

describe('unblocking a file', () => {
  it('serves it again, purges it and sends an event, with a new event id for each later round', async () => {
    const { file_id } = await make();
    for (const round of [1, 2]) {
      await block(file_id);
      const ready = await unblock(file_id);
      expect(ready).toMatchObject({ status: 'ready', blocked_by: null, unblock_count: round });
    }
    expect((await listWebhooks()).map((each) => each.delivery_id).toSorted()).toEqual([
      `file.blocked:${file_id}`,
      `file.blocked:${file_id}:2`,
      `file.unblocked:${file_id}`,
      `file.unblocked:${file_id}:2`,
    ]);
    const { data } = must((await listWebhooks()).find(({ event }) => event === 'file.unblocked'));
    expect(data).toEqual({ project_id: project.project_id, file_id, file_slug, revision: 1 });
    expect(await rowsOf('purges')).toHaveLength(8);
  });

  it('that is not blocked changes nothing and sends no event', async () => {
    const { file_id } = await make();
    expect(await unblock(file_id)).toMatchObject({ status: 'ready', unblock_count: 0 });
    expect([await listWebhooks(), await rowsOf('purges')]).toEqual([[], []]);
  });
});

describe('a re-upload of a blocked slug', () => {
  it('raises the revision and stays blocked', async () => {
    const { file_id } = await make();
    await block(file_id);
    expect(await make()).toMatchObject({ file_id, status: 'blocked', revision: 2 });
  });
});

/** Runs all work concurrently: none proceeds before all wait for the lock of the project's row. */
async function atOnce<Result>(work: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const results = await db.transaction(async (tx) => {
    await tx.query('select from projects where project_id = $1 for update', [project.project_id]);
    const started = work.map((each) => each());
    await untilWaiting(db, work.length);
    return started;
  });
  return Promise.all(results);
}

describe('concurrent deletes, re-uploads, blocks and unblocks', () => {
  const republish = async () => {
    const upload = await makeProcessing(db, project, { file_slug });
    const { upload_id, attempt } = upload;
    const facts = newRevision(upload);
    const publication = { upload_id, attempt, facts, taken_at: null, location: null };
    return () => publishFile({ db, clock: systemClock }, publication);
  };

  it('leave rows that agree with one sequential order of them', async () => {
    for (const round of Array.from({ length: 8 }, (_, index) => index)) {
      project = await makeProject(db, {
        organization_id: project.organization_id,
        callback_url: 'https://shop.example/hook',
        callback_secret_sealed: Buffer.alloc(32),
      });
      const { file_id } = await make();
      const works = [
        () => block(file_id),
        () => remove(),
        await republish(),
        await republish(),
        () => block(file_id, 'scanner', 'nudity'),
        () => unblock(file_id),
      ];
      const turned = [
        ...works.slice(round % works.length),
        ...works.slice(0, round % works.length),
      ];
      await atOnce<unknown>(turned);
      await expectAgreement(file_id);
    }
  });

  async function expectAgreement(first: string): Promise<void> {
    const files = await db.query<FileRow>(
      'select * from files where project_id = $1 order by created_at, file_id',
      [project.project_id],
    );
    const live = files.filter(({ status }) => status !== 'deleted');
    const after = must(await findProject(db, project.project_id));
    expect(after).toMatchObject({
      file_count: live.length,
      storage_bytes: live.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
      reserved_bytes: 0,
    });
    expect(must(files[0])).toMatchObject({ file_id: first, status: 'deleted' });
    expect(files.slice(0, -1).every(({ status }) => status === 'deleted')).toBe(true);
    const events = await listWebhooks();
    for (const { block_count, unblock_count, file_id } of files.slice(0, 1)) {
      const of = (event: string) =>
        events.filter((each) => each.event === event && each.data['file_id'] === file_id).length;
      expect([of('file.blocked'), of('file.unblocked')]).toEqual([block_count, unblock_count]);
    }
    const [successor] = files.slice(1);
    if (successor === undefined) return;
    // The re-upload of a slug that was deleted while blocked is blocked, too.
    const wasBlocked = must(files[0]).blocked_by !== null;
    expect(successor.status).toBe(wasBlocked ? 'blocked' : 'ready');
    const purged = await db.query('select distinct file_id from purges where project_id = $1', [
      project.project_id,
    ]);
    expect(purged).toContainEqual({ file_id: first });
  }

  it('of one file delete it once, and ten deletes all succeed', async () => {
    await make();
    const outcomes = await atOnce(Array.from({ length: 10 }, () => remove));
    expect(outcomes.toSorted()).toEqual(['deleted', ...Array(9).fill('deleted_before')]);
    expect(await rowsOf('audit_log')).toHaveLength(1);
    expect(must(await findProject(db, project.project_id)).file_count).toBe(0);
  });

  it('leave no watermark preset whose file is deleted or blocked', async () => {
    for (const end of [block, () => remove()]) {
      for (const first of ['end', 'preset']) {
        const { file_id } = await make();
        const input = { name: 'logo', file_slug, x_offset: 0, y_offset: 0, opacity: 50 };
        const preset = { project_id: project.project_id, watermark_preset_id: id('wm'), input };
        const put = () => putWatermarkPreset(db, { ...preset, actor }).catch(String);
        const ending = () => end(file_id);
        await atOnce<unknown>(first === 'end' ? [ending, put] : [put, ending]);
        expect(
          await db.query('select 1 from watermark_presets where file_id = $1', [file_id]),
        ).toEqual([]);
        await unblock(file_id);
        await remove();
      }
    }
  });

  it('of one file block it once for ten blocks, with one event', async () => {
    const { file_id } = await make();
    await atOnce(Array.from({ length: 10 }, () => () => block(file_id)));
    expect(await listWebhooks()).toHaveLength(1);
    expect(await rowsOf('purges')).toHaveLength(2);
  });
});

/** Switches the automatic block off and returns the number of statements that this takes. */
async function countSwitchingOff(project_id: string): Promise<number> {
  let asked = 0;
  await db.transaction(async (tx) => {
    const query: typeof tx.query = (text, values) => {
      asked += 1;
      return tx.query(text, values);
    };
    const switched = { project: { project_id, nudity_auto_block: true }, nudity_auto_block: false };
    await liftAutoBlocks({ ...tx, query }, { ...switched, actor });
  });
  return asked;
}

it('turning off auto-blocking clears the scanner blocks of deleted files in a fixed number of statements', async () => {
  const { project_id } = project;
  const gone: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { file_id } = await make();
    await block(file_id, 'scanner', 'nudity');
    await remove();
    gone.push(file_id);
  }
  const entries = await rowsOf('audit_log');
  expect(await countSwitchingOff(project_id)).toBe(4);
  for (const file_id of gone) {
    expect(await current(file_id)).toMatchObject({ status: 'deleted', blocked_by: null });
  }
  const forgotten = (await rowsOf('audit_log')).slice(entries.length);
  expect(forgotten.map(({ target }) => target).toSorted()).toEqual(gone.toSorted());
  for (const entry of forgotten) {
    expect(entry).toMatchObject({
      ...{ action: 'file.unblock', ...actor },
      before: { blocked_by: 'scanner', reason: 'nudity' },
      after: { status: 'deleted' },
    });
  }
});

it('turning off auto-blocking unblocks 3,000 files in few statements, with an event and audit entry each', async () => {
  const { project_id } = project;
  const count = 3_000;
  // The planner's statistics predate the many files: it expects only one or two rows.
  const other = await makeProject(db);
  for (let n = 0; n < 30; n += 1) await makeFile(db, other, { file_slug: `other-${n}.png` });
  await db.query('vacuum analyze files');
  const blocked = await makeManyBlocked(project_id, count);
  expect(await countSwitchingOff(project_id)).toBeLessThan(20);
  const is_ready = `status = 'ready' and blocked_by is null and blocked_reason is null and unblock_count = block_count`;
  const files = db.query(`select from files where project_id = $1 and ${is_ready}`, [project_id]);
  expect(await files).toHaveLength(count);
  const events = new Map((await listWebhooks()).map((each) => [each.data['file_id'], each]));
  const purges = Map.groupBy(await rowsOf('purges'), (each) => each['file_id']);
  const entries = new Map((await rowsOf('audit_log')).map((each) => [each['target'], each]));
  expect([events.size, purges.size, entries.size]).toEqual([count, count, count]);
  for (const { file_id, file_slug: slug, block_count } of blocked) {
    const delivery_id = `file.unblocked:${file_id}${block_count > 1 ? `:${block_count}` : ''}`;
    const data = { project_id, file_id, file_slug: slug, revision: 1 };
    expect(events.get(file_id)).toEqual({ delivery_id, event: 'file.unblocked', data });
    const purge = { file_slug: slug, reason: 'file_unblocked' };
    expect(purges.get(file_id)).toMatchObject([purge, purge]);
    const before = { blocked_by: 'scanner', reason: `nudity of ${slug}` };
    expect(entries.get(file_id)).toMatchObject({ action: 'file.unblock', ...actor, before });
  }
});

it('turning off auto-blocking clears 2,500 blocks of deleted files in batches, with an audit entry each', async () => {
  const { project_id } = project;
  const count = 2_500;
  const gone = new Set((await makeManyBlocked(project_id, count)).map(({ file_id }) => file_id));
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update files set status = 'deleted', deleted_at = now() where project_id = $1`,
      [project_id],
    );
  });
  // Two statements list the files, and each batch of up to 1000 takes two more.
  expect(await countSwitchingOff(project_id)).toBe(8);
  const left = `select from files where project_id = $1 and blocked_by is not null`;
  expect(await db.query(left, [project_id])).toEqual([]);
  const entries = (await rowsOf('audit_log')).filter(({ action }) => action === 'file.unblock');
  expect(new Set(entries.map(({ target }) => target))).toEqual(gone);
  expect(entries).toHaveLength(count);
});

type Blocked = Pick<FileRow, 'file_id' | 'file_slug' | 'block_count'>;

/** Inserts files blocked by the scanner; every third was blocked and unblocked once before. */
function makeManyBlocked(project_id: string, count: number): Promise<Blocked[]> {
  return db.transaction(async (tx) => {
    // Skips triggers and foreign key checks for speed: the rows are consistent.
    await tx.query('set local session_replication_role = replica');
    return tx.query(
      `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position, blocked_by,
         blocked_reason, blocked_at, block_count, unblock_count)
       select $3 || lpad(n::text, 10, '0'), $1, 'f' || n, 'blocked', 1, 1, n, 'scanner',
         'nudity of f' || n, now(), again + 1, again
       from generate_series(1, $2::int) n, lateral (select (n % 3 = 0)::int as again) it
       returning file_id, file_slug, block_count`,
      [project_id, count, id('file').slice(0, -10)],
    );
  });
}
