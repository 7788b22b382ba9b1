/**
 * Whether delivery answers at a project's hosts, requested like a viewer does: by name, through DNS, the certificate
 * and any proxy in front. Any response by delivery itself counts, and nothing is stored. Spec: Delivery host.
 */
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { onIncompleteResponse } from '../../runtime/platform/http/on-incomplete-response.ts';
import { deliveryUrl } from '../image-service/delivery-url.ts';
import type { Edge } from './edge.ts';

/** Undefined if delivery answered; otherwise why not, in a few words. */
export type ProbeHost = (address: URL, signal: AbortSignal) => Promise<string | undefined>;

export function addressesOf({ spec }: Edge, hosts: readonly string[]): URL[] {
  return hosts.map((host) => new URL(deliveryUrl(spec, host)));
}

const PROBE_MS_MAX = 5_000;

/** The first host where nothing answered, and why; all hosts are requested at once. */
export async function findSilentHost(
  addresses: readonly URL[],
  { probe, signal }: { probe: ProbeHost; signal: AbortSignal },
): Promise<{ host: string; why: string } | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]);
  const asked = addresses.map(async (address) => {
    const why = await probe(address, limit);
    return why === undefined ? undefined : { host: address.host, why };
  });
  return (await Promise.all(asked)).find((silent) => silent !== undefined);
}

/** Uses a new connection each time: a kept-alive one would not notice that the path is broken. */
export const probeHost: ProbeHost = async (address, signal) => {
  const request = address.protocol === 'https:' ? requestSecure : requestPlain;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const sent = request(address, { agent: false, signal, headers: { connection: 'close' } });
  onIncompleteResponse(sent, (error) => resolve(error.message.slice(0, 200)));
  sent.on('response', (response) => {
    const why = isOfDelivery(response)
      ? undefined
      : `something else answered ${response.statusCode}`;
    resolve(why);
    sent.destroy();
  });
  sent.end();
  return promise;
};

/** No image has an empty name: delivery refuses it, with a request id. */
function isOfDelivery({ statusCode, headers }: IncomingMessage): boolean {
  const isRefusal =
    statusCode === 404 && /^application\/json\b/.test(headers['content-type'] ?? '');
  return isRefusal && headers['x-request-id'] !== undefined;
}
