/**
 * Sends the webhooks that are due, retries above all: what a loop that runs all the time would have sent, had it not
 * been killed. Spec: Webhook delivery attempt (a job picks up retries every minute).
 */
import { Advice } from '../platform/advice.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Endpoints that hang take ten seconds each: the next run goes on. */
const BEGIN_MS_MAX = 60_000;

/** Calls that are under way when it is told to stop end with their sender. */
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
