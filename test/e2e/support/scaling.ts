/**
 * Scales a pool of workers by load. Uploads whose bytes arrive slowly keep workers busy as long as necessary, so that
 * each step can wait for an observation instead of a fixed time.
 */
import type { Caller } from '../../contract/support/client.ts';
import { type Picture, sendUpload, waitUntilEnded } from '../../contract/support/upload.ts';
import { podsOf } from './installation.ts';
import { until } from './kubectl.ts';
import type { SlowStorage } from './slow-storage.ts';

export type Load = {
  key: Caller;
  project: string;
  picture: Picture;
  storage: SlowStorage;
  /** The ingest bucket. */
  bucket: string;
};

export type Scaled = {
  /** The pods that worked concurrently. */
  most: string[];
  /** The pods that existed while only one upload was in progress. */
  least: string[];
  uploads: { upload_id: string; status: string }[];
};

/**
 * Scales from one worker to three through waiting uploads, and back to one, which is still
 * processing an upload.
 */
export async function scaleUnderLoad({
  key,
  project,
  picture,
  storage,
  bucket,
}: Load): Promise<Scaled> {
  storage.slow(bucket);
  const uploads: string[] = [];
  for (let index = 0; index < UPLOADS; index += 1) {
    uploads.push((await sendUpload(key, project, picture)).body.upload_id);
  }
  await until('three workers, each at work', async () => storage.reading().length === 3, 180);
  const most = await workers();
  // The upload that began last has most of its time left.
  const [slowest = ''] = storage.reading().slice(-1);
  storage.release({ but: [slowest] });
  await until('one worker is left', async () => (await workers()).length === 1, 180);
  const least = await workers();
  if (!storage.reading().includes(slowest)) throw new Error('the worker that was busy is gone');
  storage.release();
  const ended = await Promise.all(uploads.map((id) => waitUntilEnded(key, project, id)));
  return { most, least, uploads: ended };
}

const UPLOADS = 9;

async function workers(): Promise<string[]> {
  return (await podsOf('worker-ingest')).map(({ name }) => name);
}
