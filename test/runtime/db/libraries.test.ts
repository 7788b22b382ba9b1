// Spec: Endpoints, Libraries (DELETE).
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../runtime/db/client.ts';
import {
  countLibraryContents,
  insertLibrary,
  type LibraryRow,
  lockLibrary,
  updateLibraryDeleted,
} from '../../../runtime/db/libraries.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import { updateUploadFailed } from '../../../runtime/db/upload-processing.ts';
import { insertUpload, updateUploadUploaded } from '../../../runtime/db/uploads.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import {
  id,
  makeFile,
  makeProcessing,
  makeProject,
  makeUpload,
  must,
  newUpload,
} from '../../support/rows.ts';

const { db } = useDatabase();
let project: ProjectRow;
let library: LibraryRow;

beforeEach(async () => {
  project = await makeProject(db);
  const names = { library_slug: 'press', name: 'Press', allowed_origins: [] };
  const { project_id } = project;
  library = must(await insertLibrary(db, { library_id: id('lib'), project_id, ...names }));
});

const inLibrary = () => ({ library_id: library.library_id });
/** Counts under the lock, as the deletion of a library does. */
const contents = (on: Database = db) =>
  on.transaction(async (tx) => {
    const { library_id } = must(await lockLibrary(tx, library));
    return countLibraryContents(tx, library_id);
  });

describe('counting uploads that keep a library from being deleted', () => {
  const ways: [state: string, make: () => Promise<unknown>, uploads: number][] = [
    ['is created', () => makeUpload(db, project, inLibrary()), 1],
    [
      'is uploaded',
      async () => {
        const { upload_id } = await makeUpload(db, project, inLibrary());
        must(await updateUploadUploaded(db, upload_id));
      },
      1,
    ],
    ['is being processed', () => makeProcessing(db, project, inLibrary()), 1],
    [
      'was aborted',
      async () => {
        const { upload_id } = await makeUpload(db, project, inLibrary());
        must(await updateUploadAborted(db, upload_id));
      },
      0,
    ],
    [
      'failed',
      async () => {
        const upload = await makeProcessing(db, project, inLibrary());
        must(await updateUploadFailed(db, { ...upload, error_code: 'decode_failed' }));
      },
      0,
    ],
  ];
  it.each(ways)('counts one that %s only if it is unfinished', async (_, make, uploads) => {
    await make();
    expect(await contents()).toEqual({ files: 0, uploads });
  });
});

it('the contents of a library are counted only up to the given limit', async () => {
  for (let n = 0; n < 3; n++) {
    await makeFile(db, project, inLibrary());
    await makeUpload(db, project, inLibrary());
  }
  const count = (most: number) =>
    db.transaction((tx) => countLibraryContents(tx, library.library_id, most));
  expect(await count(2)).toEqual({ files: 2, uploads: 2 });
  expect(await count(4)).toEqual({ files: 3, uploads: 3 });
});

describe('deleting a library while an upload into it begins', () => {
  it('waits for an upload that came first, and counts it', async () => {
    const counted = Promise.withResolvers<Awaited<ReturnType<typeof contents>>>();
    await db.transaction(async (tx) => {
      must(await insertUpload(tx, newUpload(project, inLibrary())));
      contents().then(counted.resolve, counted.reject);
      await Promise.race([counted.promise, untilWaiting(db, 1)]);
    });
    expect(await counted.promise).toEqual({ files: 0, uploads: 1 });
  });

  it('makes an upload that comes second wait, and refuses it', async () => {
    const begun = Promise.withResolvers<Awaited<ReturnType<typeof insertUpload>>>();
    await db.transaction(async (tx) => {
      const { library_id } = must(await lockLibrary(tx, library));
      await updateLibraryDeleted(tx, library_id);
      insertUpload(db, newUpload(project, inLibrary())).then(begun.resolve, begun.reject);
      await Promise.race([begun.promise, untilWaiting(db, 1)]);
    });
    expect(await begun.promise).toBeUndefined();
  });
});
