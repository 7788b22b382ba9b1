// The suites of delivery once more, word for word: content on a real S3 server, and a connection to a real RabbitMQ
// between delivery and its worker. Not those of URLs and pixels, for which it does not matter where bytes come from.
import { describe, expect, it } from 'vitest';
import { onRealServers } from '../../support/delivery-stack.ts';

const keys = onRealServers();

// In order: the last test looks at what all suites before it left.
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
