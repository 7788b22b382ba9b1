// Spec: Files (move).
import { expect, it } from 'vitest';
import { lockLiveFiles, updateFilePlaces } from '../../../runtime/db/file-places.ts';
import { insertLibrary } from '../../../runtime/db/libraries.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import { id, makeFile, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();

it('locking a file waits for a concurrent move and returns its new folder and library', async () => {
  const project = await makeProject(db);
  const { project_id } = project;
  const { file_id } = await makeFile(db, project, { file_slug: 'a.png' });
  const library_id = id('lib');
  const library = { library_id, project_id, library_slug: 'press', name: 'Press' };
  await insertLibrary(db, { ...library, allowed_origins: [] });
  const [moved, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = db.transaction(async (tx) => {
    const places = await updateFilePlaces(tx, { file_ids: [file_id], folder: 'x', library_id });
    moved.resolve();
    await release.promise;
    return places;
  });
  await moved.promise;
  const second = db.transaction((tx) => lockLiveFiles(tx, { project_id, file_slugs: ['a.png'] }));
  await untilWaiting(db, 1);
  release.resolve();
  const place = { file_id, file_slug: 'a.png', library_id, library: 'press', folder: 'x' };
  expect(await Promise.all([first, second])).toEqual([[place], [place]]);
});
