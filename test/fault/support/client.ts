/**
 * A client that keeps books of the bytes that it sent, of the responses that it got, and of the outcomes that it never
 * learned.
 */
import { type Answer, deliver, put, withKey } from '../../contract/support/client.ts';
import type { Tintype } from '../../contract/support/tintype.ts';
import { waitUntilEnded } from '../../contract/support/upload.ts';
import { PROJECT } from './mortal-tintype.ts';

export type Sum = { requests: number; bytes: number; credits: number };

export type Books = {
  /** Ids of uploads whose bytes were accepted. None of them may be lost. */
  stored: string[];
  /** Deliveries that were received completely. */
  answered: Sum;
  /** Interrupted deliveries, which may or may not have been metered. */
  cut: number;
};

export function openBooks(): Books {
  return { stored: [], answered: { requests: 0, bytes: 0, credits: 0 }, cut: 0 };
}

const UPLOADS = `/v1/projects/${PROJECT}/uploads`;

/**
 * Creates a session, sends the bytes and completes it. Returns the id. If the connection breaks,
 * throws, and the books are still right.
 */
export async function send(
  tintype: Tintype,
  books: Books,
  { bytes, file_slug }: { bytes: Buffer; file_slug: string },
): Promise<string> {
  const caller = withKey(tintype, tintype.instance.api_key);
  const input = { content_type: 'image/jpeg', size_bytes: bytes.length, file_slug };
  const created = await caller('POST', UPLOADS, input);
  if (created.status !== 201) throw new Error(`not created: ${created.status} ${created.bytes}`);
  const { upload_id, direct } = created.body;
  const taken = await put(direct.put_url, direct.headers, bytes);
  if (taken.status !== 200) throw new Error(`not taken: ${taken.status} ${taken.bytes}`);
  books.stored.push(upload_id);
  await complete(tintype, upload_id);
  return upload_id;
}

export function complete(tintype: Tintype, uploadId: string): Promise<Answer> {
  const caller = withKey(tintype, tintype.instance.api_key);
  return caller('POST', `${UPLOADS}/${uploadId}/complete`);
}

export function untilEnded(tintype: Tintype, uploadId: string) {
  return waitUntilEnded(withKey(tintype, tintype.instance.api_key), PROJECT, uploadId);
}

/**
 * Fetches an image and books its cost as a customer would compute it. Returns undefined if the
 * delivery was interrupted.
 */
export async function fetchImage(tintype: Tintype, books: Books, path: string) {
  const answer = await deliver(tintype, { project: PROJECT, path }).catch(() => undefined);
  if (answer === undefined) {
    books.cut += 1;
    return undefined;
  }
  if (answer.status >= 400) return answer;
  const { answered } = books;
  answered.requests += 1;
  answered.bytes += answer.bytes.length;
  answered.credits += Math.max(1, Math.ceil(answer.bytes.length / 2 ** 20));
  return answer;
}
