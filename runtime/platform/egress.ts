/**
 * Where the service may send something on a tenant's word: https to public unicast addresses, so that nobody
 * reaches the cluster's own network through us. Spec: Events (the callback URL must be https and resolve to a
 * public address).
 */
import ipaddr from 'ipaddr.js';
import { createResolver, queryAddresses } from './query-addresses.ts';

/**
 * Why a URL is refused, as the end of a sentence that begins with its field; undefined when it may be called. Its name is
 * asked for as it will be for a call. `servers` are those of the system unless a test brings its own.
 */
export async function egressFault(
  url: string,
  egress: 'public' | 'any',
  servers?: readonly string[],
): Promise<string | undefined> {
  if (egress === 'any') return undefined;
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:') return 'expected an https URL';
  const addresses = await resolve(hostname, servers);
  if (addresses.length === 0) return `expected a host that resolves; ${hostname} does not`;
  return addresses.every(isPublicAddress)
    ? undefined
    : `expected a public address; ${hostname} resolves to a private or reserved one`;
}

/** Why a URL's port is refused, as the end of such a sentence. */
export function portFault(url: string, ports: readonly number[]): string | undefined {
  const port = Number(new URL(url).port || 443);
  return ports.includes(port) ? undefined : `expected port ${ports.join(' or ')}`;
}

/** Why a URL is refused by what stands in it; a name is judged as it is looked up for a connection. */
export function literalFault(url: string, egress: 'public' | 'any'): string | undefined {
  if (egress === 'any') return undefined;
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:') return 'expected an https URL';
  const literal = literalOf(hostname);
  return literal === undefined || isPublicAddress(literal)
    ? undefined
    : `expected a public address; ${hostname} is a private or reserved one`;
}

/** The address that a URL's host is; a name is none. */
function literalOf(hostname: string): string | undefined {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(literal) ? literal : undefined;
}

/** Public unicast only: no loopback, private, link-local, carrier or cluster range, no IPv4 inside IPv6. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6' && !parsed.match(ALLOCATED_IPV6, 3)) return false;
  if (ISATAP.test(parsed.toNormalizedString())) return false;
  return !RESERVED.some(
    ([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits),
  );
}

/** All that the internet uses of IPv6 is 2000::/3. */
const ALLOCATED_IPV6 = ipaddr.parse('2000::');
/** Under whatever prefix: 0:5efe or 200:5efe, and behind it an IPv4 address that such a tunnel leads to. */
const ISATAP = /:(?:0|200):5efe:[0-9a-f]+:[0-9a-f]+(?:%|$)/;
/** What ipaddr.js counts as unicast and nobody outside can own. */
const RESERVED = ['168.63.129.16/32'].map((text) => ipaddr.parseCIDR(text));

/** A name server that is silent for too long counts as one that does not know. */
async function resolve(hostname: string, servers?: readonly string[]): Promise<string[]> {
  const literal = literalOf(hostname);
  if (literal !== undefined) return [literal];
  const found = await queryAddresses(createResolver(servers), hostname).catch(() => []);
  return found.map(({ address }) => address);
}
