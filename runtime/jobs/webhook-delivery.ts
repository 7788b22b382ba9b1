/**
 * Sends due webhooks, mainly retries: what the permanent loop would have sent had it not been killed. Spec: Webhook
 * delivery attempt (a job picks up retries every minute).
 */
import { Advice } from '../platform/advice.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Hanging endpoints take ten seconds each; the next run continues. */
const BEGIN_MS_MAX = 60_000;

/** When the job is aborted, its sender ends the calls under way. */
export async function webhookDelivery({ webhooks, signal }: JobContext): Promise<JobCounts> {
  if (webhooks === undefined) {
    throw new Advice(
      'webhooks are signed with sealed secrets: set TINTYPE_KEY_ENCRYPTION_KEYS, as the API has it',
    );
  }
  const counts = { delivered: 0, failed: 0, abandoned: 0 };
  const began = performance.now();
  while (performance.now() - began < BEGIN_MS_MAX) {
    signal.throwIfAborted();
    const begun = await webhooks.begin();
    if (begun.length === 0) return counts;
    for (const result of await Promise.all(begun)) {
      if (result !== undefined) counts[result] += 1;
    }
  }
  return counts;
}
