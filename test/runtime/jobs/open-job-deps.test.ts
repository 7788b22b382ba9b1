// A job beside a running Tintype works with what that works with: a sweep that compared its database with the buckets
// of another installation would empty them.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openJobDeps } from '../../../runtime/jobs/open-job-deps.ts';
import { STORAGE_FOLDER } from '../../../runtime/platform/storage/folder-buckets.ts';

const keys = (id: string) => `${id}:${Buffer.alloc(32, 1).toString('base64')}`;
const instance = {
  api_url: 'http://localhost:8080',
  delivery_root_domain: 'localhost',
  delivery_scheme: 'http',
  delivery_port: 8081,
  database_url: 'postgres://tintype@127.0.0.1:1/tintype',
  token_keys: keys('t1'),
  key_encryption_keys: keys('k1'),
  environment: {},
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-jobs-'));
  await writeFile(join(folder, 'instance.json'), JSON.stringify(instance));
});
afterAll(() => rm(folder, { recursive: true }));

it('takes the folders and the queue of one that has no others, whatever its shell names', async () => {
  const deps = await openJobDeps(folder, {
    TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1',
    TINTYPE_AMQP_URL: 'amqp://127.0.0.1:1',
    TINTYPE_CDN: 'http-purge',
    TINTYPE_CDN_URL: 'http://127.0.0.1:1',
  });
  try {
    const bytes = Buffer.from('a');
    const terms = { content_type: 'text/plain', size_bytes: 1 };
    await deps.buckets.content.write('kept', bytes, terms);
    expect(await readdir(join(folder, STORAGE_FOLDER, 'content'))).toContain('kept');
    expect(deps.is_queue_alone).toBe(true);
  } finally {
    await deps.queue.close();
    await deps.patient?.close();
    await deps.db.close();
  }
});
