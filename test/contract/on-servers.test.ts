// Runs the suites for the embedded storage and queue again, unchanged, on a real S3 server and a real RabbitMQ.
import { describe, expect, it } from 'vitest';
import { onServers } from './support/servers.ts';
import { readStart } from './support/start-line.ts';

const servers = onServers();

describe('on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('the first way', async () => {
    await import('./first-way.test.ts');
  });

  describe('every type', async () => {
    await import('./formats.test.ts');
  });

  describe('refusals', async () => {
    await import('./refusals.test.ts');
  });

  describe('a folder of files', async () => {
    await import('./upload-folder.test.ts');
  });

  it('named to it by what docs/deployment.md names, and the buckets', async () => {
    const { env } = readStart('docs/deployment.md', 'On one machine with real servers');
    const buckets = ['TINTYPE_INGEST_BUCKET', 'TINTYPE_CONTENT_BUCKET'];
    const named = Object.keys(await servers().environment());
    expect(named.toSorted()).toEqual([...Object.keys(env), ...buckets].toSorted());
  });

  it('all of which went to the S3 server', async () => {
    const counts = await servers().countObjects();
    expect(Object.keys(counts)).toEqual(expect.arrayContaining(['masters', 'derived']));
  });
});
