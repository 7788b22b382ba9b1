/** Sums spooled deliveries into one batch, by project and by the hour in which they ended. Spec: Metering. */
import { z } from 'zod';
import { deliveryCredits, hourOf } from '../core/metering.ts';
import type { UsageBatchEntry } from '../db/usage-batches.ts';

/** One successful delivery; `bytes` is the size of its body, 0 for HEAD and 304. */
export type Delivery = {
  project_id: string;
  bytes: number;
  kind: 'derived' | 'originals' | 'raw';
  is_watermarked: boolean;
};

/** A line of the spool; `at` in milliseconds. */
export type SpooledDelivery = Delivery & { at: number };

const spooledDelivery: z.ZodType<SpooledDelivery> = z.strictObject({
  at: z.int().min(0),
  project_id: z.string(),
  bytes: z.int().min(0),
  kind: z.enum(['derived', 'originals', 'raw']),
  is_watermarked: z.boolean(),
});

export function foldDeliveries(lines: readonly unknown[]): UsageBatchEntry[] {
  const entries = new Map<string, UsageBatchEntry>();
  for (const line of lines) {
    const { at, ...delivery } = spooledDelivery.parse(line);
    const { project_id } = delivery;
    const window_start = hourOf(new Date(at));
    const key = `${project_id} ${window_start.getTime()}`;
    const entry = entries.get(key) ?? { ...nothing, project_id, window_start };
    entries.set(key, addDelivery(entry, delivery));
  }
  return [...entries.values()];
}

const nothing = { requests: 0, bytes: 0, transforms: 0, credits: 0 };

function addDelivery(
  entry: UsageBatchEntry,
  { bytes, kind, is_watermarked }: Delivery,
): UsageBatchEntry {
  return {
    ...entry,
    requests: entry.requests + 1,
    bytes: entry.bytes + bytes,
    transforms: entry.transforms + (kind === 'derived' ? 1 : 0),
    credits: entry.credits + deliveryCredits({ bytes, is_raw: kind === 'raw', is_watermarked }),
  };
}
