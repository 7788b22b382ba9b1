// The delivery suites about storage and rendering, with content on a real S3 server and a real RabbitMQ between delivery
// and the worker. Those of URLs, pixels, lookups and refusals are left out, since they depend on neither.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/delivery-stack.ts';

const keys = onRealServers();

// In order: the last test inspects what all previous suites stored.
describe('delivery on S3 and RabbitMQ', { shuffle: false }, () => {
  describe('caching', async () => {
    await import('./caching.test.ts');
  });

  describe('watermarks', async () => {
    await import('./watermark.test.ts');
  });

  describe('originals and byte ranges of them', async () => {
    await import('./originals.test.ts');
  });

  describe('raw downloads', async () => {
    await import('./raw.test.ts');
  });

  describe('viewers who disconnect', async () => {
    await import('./left-viewers.test.ts');
  });

  describe("a worker's storage outage", async () => {
    await import('./worker-outage.test.ts');
  });

  describe('overload', async () => {
    await import('./overload.test.ts');
  });

  it('stores the derived images of these suites on the S3 server', async () => {
    const derived = (await keys()).filter((key) => key.startsWith('derived/'));
    expect(derived.length).toBeGreaterThan(30);
  });
});
