// The suites of delivery once more, word for word: content on a real S3 server, and a connection to a real RabbitMQ
// between delivery and its worker.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/delivery-stack.ts';

const keys = onRealServers();

describe('on S3 and RabbitMQ: grammar', async () => {
  await import('./grammar.test.ts');
});

describe('on S3 and RabbitMQ: geometry', async () => {
  await import('./geometry.test.ts');
});

describe('on S3 and RabbitMQ: refusals and their order', async () => {
  await import('./handler.test.ts');
});

describe('on S3 and RabbitMQ: hosts, methods and headers', async () => {
  await import('./server.test.ts');
});

describe('on S3 and RabbitMQ: caching', async () => {
  await import('./caching.test.ts');
});

describe('on S3 and RabbitMQ: watermarks', async () => {
  await import('./watermark.test.ts');
});

describe('on S3 and RabbitMQ: originals and parts of them', async () => {
  await import('./originals.test.ts');
});

describe('on S3 and RabbitMQ: raw downloads', async () => {
  await import('./raw.test.ts');
});

describe('on S3 and RabbitMQ: signed URLs and what is known', async () => {
  await import('./lookup.test.ts');
});

describe('on S3 and RabbitMQ: viewers who left', async () => {
  await import('./left-viewers.test.ts');
});

describe("on S3 and RabbitMQ: a worker's storage that is away", async () => {
  await import('./worker-outage.test.ts');
});

describe('on S3 and RabbitMQ: overload', async () => {
  await import('./overload.test.ts');
});

it('all of which went to the S3 server', async () => {
  const derived = (await keys()).filter((key) => key.startsWith('derived/'));
  expect(derived.length).toBeGreaterThan(30);
});
