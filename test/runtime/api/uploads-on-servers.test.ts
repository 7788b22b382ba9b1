// The suites of uploads once more, word for word, over real object storage and a real broker.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/backend.ts';

const countObjects = onRealServers();

describe('on S3 and RabbitMQ: creating', async () => {
  await import('./routes/create-upload.test.ts');
});

describe('on S3 and RabbitMQ: completing', async () => {
  await import('./routes/complete-upload.test.ts');
});

describe('on S3 and RabbitMQ: proxy PUTs', async () => {
  await import('./routes/proxy-upload.test.ts');
});

describe('on S3 and RabbitMQ: storage events, and the four movers at once', async () => {
  await import('./routes/storage-events.test.ts');
});

describe('on S3 and RabbitMQ: bodies that are too slow', async () => {
  await import('./slow-upload.test.ts');
});

describe('on S3 and RabbitMQ: multipart uploads', async () => {
  await import('./routes/multipart-upload.test.ts');
});

describe('on S3 and RabbitMQ: refusals', async () => {
  await import('./routes/upload-refusals.test.ts');
});

describe('on S3 and RabbitMQ: refusals of bytes', async () => {
  await import('./routes/upload-byte-refusals.test.ts');
});

describe('on S3 and RabbitMQ: the room of a project', async () => {
  await import('./storage-limit.test.ts');
});

it('all of which left their bytes with the S3 server', async () => {
  expect(await countObjects()).toBeGreaterThan(60);
});
