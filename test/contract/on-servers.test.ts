// Runs suites for the embedded storage and queue again, unchanged, on a real S3 server and a real RabbitMQ. That of
// refusals is left out, since they depend on neither.
import { describe, expect, it } from 'vitest';
import { onServers } from './support/servers.ts';
import { readStart } from './support/start-line.ts';

const servers = onServers();

describe('on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('accounts, uploads, delivery and usage', async () => {
    await import('./first-way.test.ts');
  });

  describe('file formats', async () => {
    await import('./formats.test.ts');
  });

  describe('a folder of files', async () => {
    await import('./upload-folder.test.ts');
  });

  it('the servers are configured by the variables in docs/deployment.md and the bucket names', async () => {
    const { env } = readStart('docs/deployment.md', 'On one machine with real servers');
    const buckets = ['TINTYPE_INGEST_BUCKET', 'TINTYPE_CONTENT_BUCKET'];
    const named = Object.keys(await servers().environment());
    expect(named.toSorted()).toEqual([...Object.keys(env), ...buckets].toSorted());
  });

  it('the S3 server holds the masters and derived images', async () => {
    const counts = await servers().countObjects();
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(['masters', 'derived']));
  });
});
