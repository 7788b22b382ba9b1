/**
 * The origin of a call as rates count it: an IPv4 address, or the /64 network of an IPv6 address. A site that calls on
 * behalf of its visitors may send a hash of the visitor's address instead, if every hop of the call is trusted; anybody
 * else could send a new hash with each call. Spec: Public (X-Service-Client-Ip-Hash).
 */
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

export function clientNetwork(request: Request): string {
  const hash = request.get('x-service-client-ip-hash') ?? '';
  if (HASH.test(hash) && isTrustedThroughout(request)) return `hash ${hash}`;
  return networkOf(request.ip ?? '');
}

/** An IPv4 address, or the /64 network of an IPv6 address, which one customer holds. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()
    : parsed.toString();
}

/** A SHA-256 in lower-case hex. */
const HASH = /^[0-9a-f]{64}$/;

/** Whether even the first hop, the farthest that the headers name, is a trusted proxy. */
function isTrustedThroughout({ app, ip, ips }: Request): boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return ip !== undefined && isTrusted(ip, ips.length);
}
