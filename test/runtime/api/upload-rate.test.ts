import { describe, expect, it } from 'vitest';
import { enforceMinimumRate } from '../../../runtime/api/upload-rate.ts';

const rate = { bytes_min: 1000, window_seconds: 0.2 };

async function* chunks(...steps: { bytes: number; after_ms: number }[]): AsyncGenerator<Buffer> {
  for (const { bytes, after_ms } of steps) {
    await new Promise((resolve) => setTimeout(resolve, after_ms));
    yield Buffer.alloc(bytes);
  }
}

async function total(source: AsyncIterable<Buffer>): Promise<number> {
  let sum = 0;
  for await (const chunk of source) sum += chunk.length;
  return sum;
}

describe('the minimum rate of an upload', () => {
  it('accepts a slow body that reaches the rate in every window', async () => {
    const steady = Array.from({ length: 20 }, () => ({ bytes: 200, after_ms: 20 }));
    expect(await total(enforceMinimumRate(chunks(...steady), rate))).toBe(4000);
  });

  it('rejects a body that trickles and one that stalls', async () => {
    const trickle = Array.from({ length: 100 }, () => ({ bytes: 1, after_ms: 20 }));
    await expect(total(enforceMinimumRate(chunks(...trickle), rate))).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const silent = chunks({ bytes: 10_000, after_ms: 0 }, { bytes: 1, after_ms: 5000 });
    await expect(total(enforceMinimumRate(silent, rate))).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('does not count the time that the reader takes', async () => {
    let sum = 0;
    const source = chunks({ bytes: 1, after_ms: 0 }, { bytes: 1, after_ms: 0 });
    for await (const chunk of enforceMinimumRate(source, rate)) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      sum += chunk.length;
    }
    expect(sum).toBe(2);
  });
});
