/** The three steps of an upload, and polling, as any client performs them. Spec: Uploads. */
import { untilFound } from '../../support/until-found.ts';
import { type Answer, type Caller, put } from './client.ts';

export type Picture = { bytes: Buffer; content_type: string };

/**
 * Creates a session, sends the bytes and completes the upload. Returns the response of complete.
 */
export async function sendUpload(
  caller: Caller,
  project: string,
  { bytes, content_type, ...wish }: Picture & { file_slug?: string; sha256?: string },
): Promise<Answer> {
  const uploads = `/v1/projects/${project}/uploads`;
  const declared = { content_type, size_bytes: bytes.length, ...wish };
  const created = await caller('POST', uploads, declared);
  if (created.status !== 201) throw new Error(`not created: ${created.bytes}`);
  const { put_url, headers } = created.body.direct;
  const stored = await put(put_url, headers, bytes);
  if (stored.status !== 200) throw new Error(`not stored: ${stored.status} ${stored.bytes}`);
  return caller('POST', `${uploads}/${created.body.upload_id}/complete`);
}

/** Polls until processing has succeeded, failed or expired. */
export async function waitUntilEnded(caller: Caller, project: string, uploadId: string) {
  const path = `/v1/projects/${project}/uploads/${uploadId}`;
  return untilFound(`${path} has ended`, async () => {
    const { body } = await caller('GET', path);
    return ['ready', 'failed', 'expired'].includes(body.status) && body;
  });
}

/** Uploads a picture and returns the session after processing. */
export async function upload(
  caller: Caller,
  project: string,
  picture: Parameters<typeof sendUpload>[2],
) {
  const completed = await sendUpload(caller, project, picture);
  if (completed.status !== 200) throw new Error(`not completed: ${completed.bytes}`);
  return waitUntilEnded(caller, project, completed.body.upload_id);
}
