// Runs suites of uploads again, with real object storage and a real broker. Those of multipart uploads, refusals and slow
// bodies are left out: they run on both storages by themselves, and send nothing to the broker.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/backend.ts';

const countObjects = onRealServers();

// In order: the last test counts the objects that the suites before it stored.
describe('on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('creating uploads', async () => {
    await import('./routes/create-upload.test.ts');
  });

  describe('completing uploads', async () => {
    await import('./routes/complete-upload.test.ts');
  });

  describe('proxy PUTs', async () => {
    await import('./routes/proxy-upload.test.ts');
  });

  describe('storage events and concurrent completion', async () => {
    await import('./routes/storage-events.test.ts');
  });

  describe('the storage limit of a project', async () => {
    await import('./storage-limit.test.ts');
  });

  it('the S3 server holds the objects that these suites stored', async () => {
    expect(await countObjects()).toBeGreaterThan(60);
  });
});
