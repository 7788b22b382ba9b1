// Runs the same suites of uploads again, with real object storage and a real broker.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/backend.ts';

const countObjects = onRealServers();

// In order: the last test counts the objects that the suites before it stored.
describe('on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('creating', async () => {
    await import('./routes/create-upload.test.ts');
  });

  describe('completing', async () => {
    await import('./routes/complete-upload.test.ts');
  });

  describe('proxy PUTs', async () => {
    await import('./routes/proxy-upload.test.ts');
  });

  describe('storage events, and the four movers at once', async () => {
    await import('./routes/storage-events.test.ts');
  });

  describe('bodies that are too slow', async () => {
    await import('./slow-upload.test.ts');
  });

  describe('multipart uploads', async () => {
    await import('./routes/multipart-upload.test.ts');
  });

  describe('refusals', async () => {
    await import('./routes/upload-refusals.test.ts');
  });

  describe('refusals of bytes', async () => {
    await import('./routes/upload-byte-refusals.test.ts');
  });

  describe('the room of a project', async () => {
    await import('./storage-limit.test.ts');
  });

  it('all of which left their bytes with the S3 server', async () => {
    expect(await countObjects()).toBeGreaterThan(60);
  });
});
