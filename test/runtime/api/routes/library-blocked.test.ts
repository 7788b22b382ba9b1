// Spec: File (status); Library sessions and the picker (GET /v1/library/uploads/{id}): a file that was blocked.
import { expect, it } from 'vitest';
import { claimUpload } from '../../../../runtime/db/claim-upload.ts';
import { updateFileBlocked } from '../../../../runtime/db/files.ts';
import { updateUploadUploaded } from '../../../../runtime/db/uploads.ts';
import { type Answer, newSubject } from '../../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../../support/api-server.ts';
import { libraryProject } from '../../../support/library-sessions.ts';
import { must, publish } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const staff = api.session(STAFF_SUBJECT);
const UPLOADS = '/v1/library/uploads';
const image = { content_type: 'image/png', size_bytes: 1000 };

/** Publishes the upload, as a worker does, and returns the id of the file. */
async function makeReady(upload_id: string): Promise<string> {
  await updateUploadUploaded(api.db, upload_id);
  const claimed = must(await claimUpload(api.db, { upload_id, lease_seconds: 60 }));
  return (await publish(api.db, claimed)).file_id;
}

it('a library session cannot see the file of its upload while the file is blocked', async () => {
  const token = await (await libraryProject(api, owner)).open();
  const { upload_id } = (await token('POST', UPLOADS, image)).body;
  const file_id = await makeReady(upload_id);
  const shown = async (): Promise<Answer['body'][]> => [
    (await token('GET', `${UPLOADS}/${upload_id}`)).body,
    (await token('POST', `${UPLOADS}/${upload_id}/complete`)).body,
  ];
  const asFile = { status: 'ready', file: { file_slug: upload_id } };
  expect(await shown()).toMatchObject([asFile, asFile]);
  const block = { file_id, blocked_by: 'staff', reason: 'x' } as const;
  must(await api.db.transaction((tx) => updateFileBlocked(tx, block)));
  const asNone = { status: 'ready', file: null };
  expect(await shown()).toMatchObject([asNone, asNone]);
  expect((await staff('POST', `/v1/staff/files/${file_id}/unblock`)).status).toBe(200);
  expect(await shown()).toMatchObject([asFile, asFile]);
});
