// Spec: File; States and transitions, File.
import { expect, it } from 'vitest';
import { deleteFile, insertFileRevision } from '../../../runtime/db/file-revisions.ts';
import { findFileById } from '../../../runtime/db/files.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeProcessing, makeProject, must, newRevision, publish } from '../../support/rows.ts';

const { db } = useDatabase();
const file_slug = 'hero.png';

const doomedOf = async (file_id: string) =>
  (
    await db.query<{ object_key: string }>(
      'select object_key from doomed_objects where file_id = $1',
      [file_id],
    )
  ).map(({ object_key }) => object_key);

it('a new revision keeps the title and filename of the file unless it brings its own', async () => {
  const project = await makeProject(db);
  const named = { file_slug, title: 'Hero', original_filename: 'hero (1).png' };
  await publish(db, await makeProcessing(db, project, named));
  const plain = await publish(db, await makeProcessing(db, project, { file_slug }));
  expect(plain).toMatchObject({
    revision: 2,
    title: 'Hero',
    original_filename: 'hero (1).png',
  });
  const other = { file_slug, title: 'Other', original_filename: 'other.png' };
  expect(await publish(db, await makeProcessing(db, project, other))).toMatchObject({
    title: 'Other',
    original_filename: 'other.png',
  });
});

it.each(['replaced', 'deleted'])(
  'every object of a %s revision is scheduled for deletion, including the raw one',
  async (how) => {
    const project = await makeProject(db);
    const raw_object_key = `${id('file')}/native`;
    const upload = await makeProcessing(db, project, { file_slug });
    const { file_id, object_key } = await publish(db, upload, { raw_object_key });
    if (how === 'replaced') await publish(db, await makeProcessing(db, project, { file_slug }));
    else
      await db.transaction((tx) => deleteFile(tx, { project_id: project.project_id, file_slug }));
    const doomed = await doomedOf(file_id);
    expect(doomed).toHaveLength(4);
    expect(doomed).toEqual(expect.arrayContaining([object_key, raw_object_key]));
  },
);

it('a revision is never published before its file was created, even if its transaction began earlier', async () => {
  const project = await makeProject(db);
  const [first, second] = [
    await makeProcessing(db, project, { file_slug }),
    await makeProcessing(db, project, { file_slug }),
  ];
  const later = await db.transaction(async (tx) => {
    await tx.query('select now()');
    await publish(db, first);
    return insertFileRevision(tx, newRevision(second));
  });
  const { created_at, updated_at, published_at } = must(await findFileById(db, later.file_id));
  expect(updated_at.getTime()).toBeGreaterThanOrEqual(created_at.getTime());
  expect(published_at).toEqual(updated_at);
});
