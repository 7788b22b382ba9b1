/**
 * Events of payment providers, in their documented format: signed, sent again until the response is 200, and sometimes
 * duplicated and out of order.
 */
import Stripe from 'stripe';
import { signProviderB } from '../../runtime/core/signing/provider-b.ts';
import type { Answer } from './api-client.ts';

export const PROVIDER_A_SECRET = 'whsec_of_provider_a';
export const PROVIDER_B_SECRET = 'the secret of provider b';

/** Both providers send JSON objects, but with their fields in different places. */
export type ProviderMessage = { path: string; headers: Record<string, string>; body: string };

const newSerial = (() => {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
})();
export const newEventId = () => `evt_${newSerial()}_${Date.now()}`;

export type EventB = { id: string; eventType: string; created_at: number; object: object };
export type EventA = {
  id: string;
  type: string;
  created: number;
  livemode?: boolean;
  data: object;
};

export function messageB(event: EventB, secret = PROVIDER_B_SECRET): ProviderMessage {
  const body = JSON.stringify(event);
  const headers = { 'provider-b-signature': signProviderB(secret, Buffer.from(body)) };
  return { path: '/v1/billing/providerb/webhook', headers, body };
}

const stripe = new Stripe('sk_test_none');

/** Signed with Stripe's SDK, whose signature header has the format of provider A. */
export function messageA(event: EventA, options: SignedAs = {}): ProviderMessage {
  return signedA(JSON.stringify(event), options);
}

type SignedAs = { secret?: string; at?: Date };

/** Signs any bytes like an event of provider A. */
export function signedA(
  payload: string,
  { secret = PROVIDER_A_SECRET, at = new Date() }: SignedAs = {},
): ProviderMessage {
  const timestamp = Math.floor(at.getTime() / 1000);
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  const headers = { 'provider-a-signature': header };
  return { path: '/v1/billing/providera/webhook', headers, body: payload };
}

export type Send = (call: {
  method: string;
  path: string;
  raw: string;
  headers: Record<string, string>;
}) => Promise<Answer>;

export function tell(send: Send, { path, headers, body }: ProviderMessage): Promise<Answer> {
  const json = { 'content-type': 'application/json', ...headers };
  return send({ method: 'POST', path, raw: body, headers: json });
}

/** The part of a response that tests compare. */
export const saidOf = ({ status, body }: Answer) =>
  `${status} ${body.status ?? body.error?.code ?? ''}`;

const ROUNDS_MAX = 20;

/** Sends every message twice, in random order, and retries until all are accepted. */
export async function tellAll(
  send: Send,
  messages: readonly ProviderMessage[],
  shuffle: <T>(values: readonly T[]) => T[],
): Promise<void> {
  let open = [...messages, ...messages];
  for (let round = 0; open.length > 0; round++) {
    if (round === ROUNDS_MAX) throw new Error(`${open.length} events are never taken`);
    const next: ProviderMessage[] = [];
    for (const message of shuffle(open)) {
      if ((await tell(send, message)).status !== 200) next.push(message);
    }
    open = next;
  }
}
