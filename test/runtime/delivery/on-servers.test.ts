// The same delivery suites, with content on a real S3 server and a real RabbitMQ between delivery and the worker. The
// suites of URLs and pixels are left out, since they do not depend on either.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/delivery-stack.ts';

const keys = onRealServers();

// In order: the last test inspects what all previous suites stored.
describe('on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('refusals and their order', async () => {
    await import('./handler.test.ts');
  });

  describe('hosts, methods and headers', async () => {
    await import('./server.test.ts');
  });

  describe('caching', async () => {
    await import('./caching.test.ts');
  });

  describe('watermarks', async () => {
    await import('./watermark.test.ts');
  });

  describe('originals and parts of them', async () => {
    await import('./originals.test.ts');
  });

  describe('raw downloads', async () => {
    await import('./raw.test.ts');
  });

  describe('signed URLs and what is known', async () => {
    await import('./lookup.test.ts');
  });

  describe('viewers who left', async () => {
    await import('./left-viewers.test.ts');
  });

  describe("a worker's storage that is away", async () => {
    await import('./worker-outage.test.ts');
  });

  describe('overload', async () => {
    await import('./overload.test.ts');
  });

  it('all of which went to the S3 server', async () => {
    const derived = (await keys()).filter((key) => key.startsWith('derived/'));
    expect(derived.length).toBeGreaterThan(30);
  });
});
