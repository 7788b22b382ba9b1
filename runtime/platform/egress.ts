/**
 * Where the service may send requests on a tenant's behalf: https to public unicast addresses, so that nobody reaches
 * the cluster's own network through us. Spec: Events (the callback URL must be https and resolve to a public address).
 */
import ipaddr from 'ipaddr.js';
import { createResolver, queryAddresses } from './query-addresses.ts';

/**
 * Why a URL is refused, as the end of a sentence that begins with its field; undefined when it may
 * be called. Resolves the name as a later call will. `servers`: the name servers; default: the
 * system's.
 */
export async function egressFault(
  url: string,
  egress: 'public' | 'any',
  servers?: readonly string[],
): Promise<string | undefined> {
  const fault = literalFault(url, egress);
  if (fault !== undefined || egress === 'any') return fault;
  const { hostname } = new URL(url);
  const addresses = await resolve(hostname, servers);
  if (addresses.length === 0) return `expected a host that resolves; ${hostname} does not`;
  return addresses.every(isPublicAddress)
    ? undefined
    : `expected a public address; ${hostname} resolves to a private or reserved one`;
}

/** Why a URL's port is refused, in the same form. */
export function portFault(url: string, ports: readonly number[]): string | undefined {
  const port = Number(new URL(url).port || 443);
  return ports.includes(port) ? undefined : `expected port ${ports.join(' or ')}`;
}

/**
 * Why the URL's own text is refused; a host name is checked later, when it is resolved for a
 * connection.
 */
export function literalFault(url: string, egress: 'public' | 'any'): string | undefined {
  if (egress === 'any') return undefined;
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:') return 'expected an https URL';
  const literal = literalOf(hostname);
  const isInside = literal === undefined ? LOCALHOST.test(hostname) : !isPublicAddress(literal);
  return isInside
    ? `expected a public address; ${hostname} is a private or reserved one`
    : undefined;
}

/** Leads to the machine that asks, whatever a name server says (RFC 6761). */
const LOCALHOST = /(^|\.)localhost\.?$/;

/** The host of a URL if it is an IP address; undefined for a name. */
function literalOf(hostname: string): string | undefined {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(literal) ? literal : undefined;
}

/**
 * Public unicast only: no loopback, private, link-local, carrier or cluster range, no IPv4 inside
 * IPv6.
 */
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

/** The public IPv6 internet uses only 2000::/3. */
const ALLOCATED_IPV6 = ipaddr.parse('2000::');
/**
 * An ISATAP address under any prefix: 0:5efe or 200:5efe, followed by the IPv4 address to which the
 * tunnel leads.
 */
const ISATAP = /:(?:0|200):5efe:[0-9a-f]+:[0-9a-f]+(?:%|$)/;
/** Addresses that ipaddr.js counts as unicast, but that nobody outside can own. */
const RESERVED = ['168.63.129.16/32'].map((text) => ipaddr.parseCIDR(text));

/** A name server that does not answer in time counts as one that does not know the name. */
async function resolve(hostname: string, servers?: readonly string[]): Promise<string[]> {
  const literal = literalOf(hostname);
  if (literal !== undefined) return [literal];
  const found = await queryAddresses(createResolver(servers), hostname).catch(() => []);
  return found.map(({ address }) => address);
}
