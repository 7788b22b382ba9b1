/**
 * From where a call comes, as rates count it: an address, of IPv6 the network of one customer. A site that calls for its
 * visitors may send a hash of theirs instead, if every hop that the call came through is trusted: anybody else could
 * send a new one each time. Spec: Public (X-Service-Client-Ip-Hash).
 */
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

export function clientNetwork(request: Request): string {
  const hash = request.get('x-service-client-ip-hash') ?? '';
  if (HASH.test(hash) && isTrustedThroughout(request)) return `hash ${hash}`;
  return networkOf(request.ip ?? '');
}

/** An address, or of IPv6 the network of one customer. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()
    : parsed.toString();
}

/** A SHA-256, in lower-case hex. */
const HASH = /^[0-9a-f]{64}$/;

/** The first hop, which is all that a call tells of who sent it, is one of ours as well. */
function isTrustedThroughout({ app, ip, ips }: Request): boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return ip !== undefined && isTrusted(ip, ips.length);
}
