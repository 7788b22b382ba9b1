// A job that runs beside a running Tintype uses the same database and buckets: a sweep that compared its database with
// another installation's buckets would empty them.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { JobDeps } from '../../../runtime/jobs/job.ts';
import { openJobDeps } from '../../../runtime/jobs/open-job-deps.ts';
import { INSTANCE_FILE, type Instance } from '../../../runtime/platform/instance.ts';
import { STORAGE_FOLDER } from '../../../runtime/platform/storage/folder-buckets.ts';
import { writeInstance } from '../../support/instance-file.ts';

const keys = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`;
const outside = {
  TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1',
  TINTYPE_AMQP_URL: 'amqp://127.0.0.1:1',
};
const deployment = { TINTYPE_DATABASE_URL: 'postgres://tintype@127.0.0.1:2/tintype' };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-jobs-'));
});
beforeEach(() => tell({}));
afterAll(() => rm(folder, { recursive: true }));

it('a job uses the storage folders and queue of the running Tintype, whatever the environment names', async () => {
  const deps = await openJobDeps(folder, {
    ...outside,
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
    await close(deps);
  }
});

it('a job uses what the environment names if that Tintype was killed', async () => {
  await tell({ pid: spawnSync('true').pid });
  const deps = await openJobDeps(folder, { ...outside, ...deployment });
  try {
    await expect(deps.queue.depths()).rejects.toThrow(
      'The broker at 127.0.0.1:1 does not listen there',
    );
  } finally {
    await close(deps);
  }
  await expect(openJobDeps(folder, {})).rejects.toThrow(
    /^TINTYPE_DATABASE_URL is not set, and .* has stopped \(process \d+ is gone\): start it with `make up`/,
  );
});

it('a job warns of a misspelled environment variable', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await close(await openJobDeps(folder, { TINTYPE_LOG_LEVL: 'debug' }));
    expect(said.mock.calls.join()).toMatch(/warn .*variable=TINTYPE_LOG_LEVL/);
  } finally {
    said.mockRestore();
  }
});

it('a job does not fall back to the environment if it cannot read the instance file', async () => {
  await writeFile(join(folder, INSTANCE_FILE), '{"pid": 1}');
  await expect(openJobDeps(folder, { ...outside, ...deployment })).rejects.toThrow(
    'instance.json is of another version of Tintype, or damaged',
  );
});

function tell(instanceFields: Partial<Instance>): Promise<Instance> {
  return writeInstance(folder, {
    api_url: 'http://localhost:8080',
    delivery_root_domain: 'localhost',
    delivery_port: 8081,
    database_url: 'postgres://tintype@127.0.0.1:1/tintype',
    token_keys: keys('t1'),
    key_encryption_keys: keys('k1'),
    ...instanceFields,
  });
}

async function close(deps: JobDeps): Promise<void> {
  await deps.queue.close();
  await deps.patient?.close();
  await deps.db.close();
}
