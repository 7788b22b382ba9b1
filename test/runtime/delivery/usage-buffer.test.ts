import { expect, it } from 'vitest';
import { createUsageBuffer, type UsageChunk } from '../../../runtime/delivery/usage-buffer.ts';

const delivery = (bytes: number) => ({
  at: 0,
  project_id: 'prj',
  bytes,
  kind: 'derived' as const,
  is_watermarked: false,
});

it('held usage is resent unchanged until it is accepted, and newer usage follows under the next number', async () => {
  const held = createUsageBuffer('spl');
  const seen: string[] = [];
  const see = ({ spool_id, sequence, deliveries }: UsageChunk) =>
    void seen.push(`${spool_id} ${sequence}: ${deliveries.map(({ bytes }) => bytes).join()}`);
  held.add(delivery(1));
  const refusing = held.send(async (piece) => {
    see(piece);
    throw new Error('away');
  });
  await expect(refusing).rejects.toThrow('away');
  held.add(delivery(2));
  // One call sends both pieces, so the next one finds nothing.
  await held.send(async (piece) => see(piece));
  expect([seen, held.size()]).toEqual([['spl 1: 1', 'spl 1: 1', 'spl 2: 2'], 0]);
  await held.send(async (piece) => see(piece));
  expect(seen.length).toBe(3);
});

it('held usage refuses deliveries beyond its limit until the held ones are accepted', async () => {
  const held = createUsageBuffer('spl', 2);
  expect([1, 2, 3].map((bytes) => held.add(delivery(bytes)))).toEqual([true, true, false]);
  await held.send(async () => undefined);
  expect(held.add(delivery(4))).toBe(true);
});
