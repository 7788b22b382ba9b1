import { describe, expect, it } from 'vitest';
import { claimDoomedObjects, deleteDoomedObject } from '../../../runtime/db/doomed-objects.ts';
import { listFiles } from '../../../runtime/db/file-lists.ts';
import { deleteFile } from '../../../runtime/db/file-revisions.ts';
import {
  findFile,
  findFileById,
  hasDeletedFile,
  updateFile,
  updateFileBlocked,
  updateFilesUnblocked,
} from '../../../runtime/db/files.ts';
import { findProject, type ProjectRow, updateProject } from '../../../runtime/db/projects.ts';
import {
  deleteWatermarkPreset,
  deleteWatermarkPresetsOfFile,
  findWatermarkPreset,
  listWatermarkPresets,
  upsertWatermarkPreset,
} from '../../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeFile, makeProcessing, makeProject, must, publish } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20 });

const file_slug = 'hero.png';
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const block = (file_id: string) =>
  db.transaction((tx) => updateFileBlocked(tx, { file_id, blocked_by: 'staff', reason: 'no' }));
const remove = ({ project_id }: ProjectRow) =>
  db.transaction((tx) => deleteFile(tx, { project_id, file_slug }));

/** The stored counters, and the same numbers counted from the rows. */
async function counters({ project_id }: ProjectRow) {
  const { file_count, storage_bytes, reserved_bytes } = must(await findProject(db, project_id));
  const [counted] = await db.query(
    `select count(*) as file_count, coalesce(sum(r.size_bytes), 0)::bigint as storage_bytes,
       (select coalesce(sum(reserved_bytes), 0)::bigint from uploads where project_id = $1) as reserved_bytes
     from files f join file_revisions r using (file_id, revision)
     where f.project_id = $1 and f.status <> 'deleted'`,
    [project_id],
  );
  return { kept: { file_count, storage_bytes, reserved_bytes }, counted };
}

describe('publishing', () => {
  it('concurrently under one slug makes revisions 1 to n without gaps', async () => {
    const project = await makeProject(db);
    const uploads = [];
    for (const size of times(30)) {
      uploads.push(await makeProcessing(db, project, { file_slug, size_bytes: size + 1 }));
    }
    const published = await Promise.all(uploads.map((upload) => publish(db, upload)));
    const revisions = published.map((file) => file.revision).sort((a, b) => a - b);
    expect(revisions).toEqual(times(30).map((index) => index + 1));
    expect(new Set(published.map((file) => file.file_id)).size).toBe(1);
    const last = must(published.find((file) => file.revision === 30));
    const current = must(await findFile(db, { project_id: project.project_id, file_slug }));
    expect(current.object_key).toBe(last.object_key);
    const { kept, counted } = await counters(project);
    expect(kept).toEqual(counted);
    expect(kept).toEqual({ file_count: 1, storage_bytes: last.size_bytes, reserved_bytes: 0 });
  });

  it('keeps counters correct while files are published, deleted and blocked concurrently', async () => {
    const project = await makeProject(db);
    await Promise.all(
      times(24).map(async (index) => {
        const file = await publish(db, await makeProcessing(db, project, { file_slug }));
        if (index % 3 === 0) await remove(project);
        if (index % 5 === 0) await block(file.file_id);
      }),
    );
    const { kept, counted } = await counters(project);
    expect(kept).toEqual(counted);
    const gaps = await db.query(
      `select file_id from file_revisions r join files f using (file_id) where f.project_id = $1
       group by file_id having max(r.revision) <> count(*)`,
      [project.project_id],
    );
    expect(gaps).toEqual([]);
  });

  it('after a deletion creates a new file with revision 1', async () => {
    const project = await makeProject(db);
    const first = await makeFile(db, project, { file_slug });
    await remove(project);
    const second = await makeFile(db, project, { file_slug });
    expect(second.file_id).not.toBe(first.file_id);
    expect(second).toMatchObject({ revision: 1, status: 'ready' });
  });

  it('to a blocked slug stays blocked, even after the file was deleted while blocked', async () => {
    const project = await makeProject(db);
    const file = await makeFile(db, project, { file_slug });
    const unblock = (file_id: string) =>
      db.transaction((tx) => updateFilesUnblocked(tx, [file_id]));
    await block(file.file_id);
    await unblock(file.file_id);
    await block(file.file_id);
    expect(await makeFile(db, project, { file_slug })).toMatchObject({
      revision: 2,
      status: 'blocked',
    });
    await remove(project);
    const next = await makeFile(db, project, { file_slug });
    expect(next).toMatchObject({ revision: 1, status: 'blocked', blocked_by: 'staff' });
    expect(next).toMatchObject({ block_count: 1, unblock_count: 0 });
    expect(await unblock(next.file_id)).toMatchObject([{ unblock_count: 1 }]);
    await remove(project);
    expect(await makeFile(db, project, { file_slug })).toMatchObject({ status: 'ready' });
  });

  it('by an attempt that was superseded leaves nothing behind', async () => {
    const project = await makeProject(db);
    const upload = await makeProcessing(db, project, { file_slug });
    await expect(publish(db, { ...upload, attempt: 7 })).rejects.toThrow();
    expect(await findFile(db, { project_id: project.project_id, file_slug })).toBeUndefined();
    expect((await counters(project)).kept.file_count).toBe(0);
  });
});

describe('deleting', () => {
  it('happens once, is remembered, and schedules every object of the file for deletion', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    const file = await makeFile(db, project, { file_slug });
    expect(await hasDeletedFile(db, { project_id, file_slug })).toBe(false);
    const removed = await Promise.all(times(5).map(() => remove(project)));
    expect(removed.filter((row) => row !== undefined)).toHaveLength(1);
    expect(await findFile(db, { project_id, file_slug })).toBeUndefined();
    expect(await findFileById(db, file.file_id)).toMatchObject({ status: 'deleted' });
    expect(await hasDeletedFile(db, { project_id, file_slug })).toBe(true);
    const doomed = await db.query<{ object_key: string }>(
      `select object_key from doomed_objects where file_id = $1 order by 1`,
      [file.file_id],
    );
    expect(doomed.map((row) => row.object_key)).toEqual(
      [file.object_key, file.mezzanines[0]?.object_key, file.metadata['exif']].sort(),
    );
  });
});

describe('objects scheduled for deletion', () => {
  it('are claimed after their grace period, by one worker at a time, until their row is deleted', async () => {
    const project = await makeProject(db);
    const file = await makeFile(db, project, { file_slug });
    await remove(project);
    const mine = async () =>
      (await claimDoomedObjects(db, { limit: 1000, lease_seconds: 60 })).filter((row) =>
        row.object_key.includes(project.project_id),
      );
    const byBucket = (rows: { bucket: string }[]) => rows.map((row) => row.bucket);
    expect(byBucket(await mine())).toEqual([]);
    await db.query(`update doomed_objects set delete_after = now() - interval '1 second'`);
    const [one, two] = await Promise.all([mine(), mine()]);
    expect(byBucket([...one, ...two]).sort()).toEqual(['content', 'content', 'content', 'ingest']);
    for (const row of [...one, ...two]) await deleteDoomedObject(db, row.doomed_id);
    await db.query(`update doomed_objects set delete_after = now() - interval '1 second'`);
    expect(await mine()).toEqual([]);
    expect(file.status).toBe('ready');
  });

  it('are never claimed while their revision is served', async () => {
    const file = await makeFile(db, await makeProject(db), { file_slug });
    await db.query(
      `insert into doomed_objects (bucket, object_key, file_id, revision, delete_after)
       values ('content', $1, $2, 1, now() - interval '1 hour')`,
      [file.object_key, file.file_id],
    );
    const claimed = await claimDoomedObjects(db, { limit: 1000, lease_seconds: 60 });
    expect(claimed.map((row) => row.object_key)).not.toContain(file.object_key);
  });
});

describe('files', () => {
  it('are listed newest first, by status and by a literal slug prefix', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    for (const slug of ['a_1', 'a_2', 'ab1', 'b.png']) {
      await makeFile(db, project, { file_slug: slug });
    }
    await block(must(await findFile(db, { project_id, file_slug: 'b.png' })).file_id);
    const slugs = async (query: Partial<Parameters<typeof listFiles>[1]>) => {
      const page = await listFiles(db, {
        project_id,
        status: null,
        q: null,
        limit: 10,
        after: null,
        ...query,
      });
      return page.rows.map((row) => row.file_slug);
    };
    expect(await slugs({})).toEqual(['b.png', 'ab1', 'a_2', 'a_1']);
    expect(await slugs({ q: 'a_' })).toEqual(['a_2', 'a_1']);
    expect(await slugs({ status: 'blocked' })).toEqual(['b.png']);
    expect(await slugs({ status: 'deleted' })).toEqual([]);
    await db.transaction((tx) => deleteFile(tx, { project_id, file_slug: 'ab1' }));
    expect(await slugs({ q: 'ab' })).toEqual([]);
    expect(await slugs({ status: 'deleted' })).toEqual(['ab1']);
  });

  it('are updated only in the fields that are set', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    await makeFile(db, project, { file_slug });
    const changes = { title: 'Hero', folder: 'home' };
    expect(await updateFile(db, { project_id, file_slug, changes })).toMatchObject(changes);
    const cleared = await updateFile(db, { project_id, file_slug, changes: { title: null } });
    expect(cleared).toMatchObject({ title: null, folder: 'home' });
    expect(await updateFile(db, { project_id, file_slug: 'none', changes })).toBeUndefined();
  });

  it('are blocked once by concurrent callers, and unblocked once', async () => {
    const file = await makeFile(db, await makeProject(db), { file_slug });
    const blocked = await Promise.all(times(4).map(() => block(file.file_id)));
    expect(blocked.filter((row) => row !== undefined)).toHaveLength(1);
    const unblock = () => db.transaction((tx) => updateFilesUnblocked(tx, [file.file_id]));
    expect(await unblock()).toMatchObject([{ unblock_count: 1, blocked_by: 'staff' }]);
    const ready = { status: 'ready', blocked_by: null, block_count: 1, unblock_count: 1 };
    expect(await findFileById(db, file.file_id)).toMatchObject(ready);
    expect(await unblock()).toEqual([]);
  });
});

describe('watermark presets', () => {
  it('follow their file to new revisions, and are deleted with it, even the project default', async () => {
    const project = await makeProject(db);
    const { project_id } = project;
    const file = await makeFile(db, project, { file_slug });
    const preset = {
      watermark_preset_id: id('wm'),
      project_id,
      name: 'logo',
      file_id: file.file_id,
      x_offset: 1,
      y_offset: -1,
      opacity: 50,
    };
    const created = await upsertWatermarkPreset(db, preset);
    expect(created).toMatchObject({ outcome: 'created', row: { file_slug, revision: 1 } });
    await makeFile(db, project, { file_slug });
    const replaced = await upsertWatermarkPreset(db, { ...preset, opacity: 60 });
    expect(replaced).toMatchObject({ outcome: 'replaced', row: { opacity: 60, revision: 2 } });
    const foreign = await makeProject(db);
    expect(
      await upsertWatermarkPreset(db, { ...preset, project_id: foreign.project_id }),
    ).toBeUndefined();
    const of_foreign = { ...preset, project_id: foreign.project_id };
    expect(await deleteWatermarkPreset(db, of_foreign)).toBe(false);
    await updateProject(db, {
      project_id,
      changes: { default_watermark_preset_id: preset.watermark_preset_id },
    });
    await expect(deleteWatermarkPreset(db, preset)).rejects.toMatchObject({
      constraint: 'projects_default_watermark_in_use',
    });
    await db.transaction((tx) => deleteWatermarkPresetsOfFile(tx, file.file_id));
    expect(await findWatermarkPreset(db, preset)).toBeUndefined();
    expect(await listWatermarkPresets(db, project_id)).toEqual([]);
    expect((await findProject(db, project_id))?.default_watermark_preset_id).toBeNull();
  });
});

describe('file positions', () => {
  it('number the files of a project in the order of publication, even concurrent ones', async () => {
    const project = await makeProject(db);
    await makeFile(db, await makeProject(db), { file_slug });
    const uploads = [];
    for (const n of times(10)) {
      uploads.push(await makeProcessing(db, project, { file_slug: `f-${n}` }));
    }
    const files = await Promise.all(uploads.map((upload) => publish(db, upload)));
    await remove(project);
    const again = await makeFile(db, project, { file_slug: 'f-1' });
    const sorted = files.toSorted((a, b) => a.position - b.position);
    expect(sorted.map(({ position }) => position)).toEqual(times(10).map((n) => n + 1));
    const at = sorted.map(({ created_at }) => created_at.getTime());
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(again.position).toBe(files[1]?.position);
    expect(await makeFile(db, project, { file_slug: 'next' })).toMatchObject({ position: 11 });
  });
});
