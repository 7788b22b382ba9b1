/**
 * The API of payment provider B, used only to cancel a subscription at the end of the paid period. Every call ends by
 * its deadline, and a repeated one has the same idempotency key. Spec: Billing.
 */
import { statusOfProviderB } from '../../core/billing/provider-b-fact.ts';
import { ServiceError } from '../../core/errors.ts';
import { parseAnyJson } from '../../core/json.ts';
import type { SubscriptionStatus } from '../../core/states.ts';
import { type Breaker, createBreaker } from '../breaker.ts';
import type { Clock } from '../clock.ts';
import { readBounded } from '../http/read-bounded.ts';
import type { Log } from '../log.ts';
import { traceHeaders } from '../trace-context.ts';
import { traced } from '../tracing/spans.ts';

export type ProviderB = {
  /**
   * Returns the status that the provider answers. Throws `providerb_request_failed`, or
   * `billing_unavailable` while calls are paused after too many failures.
   */
  cancel(subscription: {
    subscription_id: string;
    changed_at: Date;
  }): Promise<Exclude<SubscriptionStatus, 'active'>>;
};

export type ProviderBOptions = {
  url: string;
  api_key: string;
  clock: Clock;
  log: Log;
  deadline_ms?: number;
  fetch?: typeof fetch;
};

const DEADLINE_MS = 10_000;
const BODY_BYTES_MAX = 256 * 1024;
const BREAKER = { failures: 5, pause_ms: 30_000 };

export function openProviderB(options: ProviderBOptions): ProviderB {
  const line = { options, breaker: createBreaker(options.clock, BREAKER) };
  return {
    cancel: async ({ subscription_id, changed_at }) => {
      if (line.breaker.isOpen()) throw new ServiceError('billing_unavailable');
      const path = `/v1/subscriptions/${encodeURIComponent(subscription_id)}/cancel`;
      const key = `cancel:${subscription_id}:${changed_at.getTime()}`;
      const answer = await call(line, { path, key, body: { mode: 'scheduled' } });
      const status = answer.ok
        ? statusOfProviderB(answer.body)
        : await lookUp(line, subscription_id);
      if (status !== undefined && status !== 'active') return status;
      options.log.error('provider B did not cancel a subscription', { status: answer.status });
      throw new ServiceError('providerb_request_failed');
    },
  };
}

type Line = { options: ProviderBOptions; breaker: Breaker };
type Answer = { ok: boolean; status: number; body: unknown };

/** Reads the status, because the subscription may have ended, or be ending, without our knowing. */
async function lookUp(line: Line, subscriptionId: string): Promise<SubscriptionStatus | undefined> {
  const query = new URLSearchParams({ subscription_id: subscriptionId });
  const answer = await call(line, { path: `/v1/subscriptions?${query}` });
  return answer.ok ? statusOfProviderB(answer.body) : undefined;
}

type Call = { path: string; key?: string; body?: object };

/** Returns an answer with any status below 500 except 429; everything else throws. */
async function call(line: Line, { path, key, body }: Call): Promise<Answer> {
  const { options, breaker } = line;
  const method = body === undefined ? 'GET' : 'POST';
  const { host } = new URL(options.url);
  const attributes = { 'http.request.method': method, 'server.address': host };
  try {
    const answer = await traced(`${method} provider B`, { kind: 'client', attributes }, () =>
      exchange(options, { path, method, ...(key && { key }), ...(body && { body }) }),
    );
    if (answer.status >= 500 || answer.status === 429) throw new Error(`answered ${answer.status}`);
    breaker.succeeded();
    return answer;
  } catch (error) {
    breaker.failed();
    options.log.warn('provider B sent an unexpected response', { method, path, error });
    throw new ServiceError('providerb_request_failed', { cause: error });
  }
}

async function exchange(
  { url, api_key, deadline_ms = DEADLINE_MS, fetch = globalThis.fetch }: ProviderBOptions,
  { path, method, key, body }: Call & { method: string },
): Promise<Answer> {
  const response = await fetch(url.replace(/\/$/, '') + path, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(deadline_ms),
    headers: {
      ...traceHeaders(),
      'x-api-key': api_key,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await readBounded(response, BODY_BYTES_MAX);
  return { ok: response.ok, status: response.status, body: parseAnyJson(text) };
}
