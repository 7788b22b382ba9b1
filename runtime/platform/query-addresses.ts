/**
 * Resolves a name by our own queries to the name server. The system's lookup shares four threads with all other lookups
 * of the process, and a silent name server would block them all. The system's hosts file and search list do not apply
 * here.
 */
import { Resolver, TIMEOUT } from 'node:dns/promises';
import { withTimeout } from './with-timeout.ts';

const QUERY_MS = 2_000;
/**
 * Per name server; bounded below, because with three servers a silent name would take twelve
 * seconds.
 */
const TRIES = 2;
const ANSWER_MS_MAX = 5_000;

export type Address = { address: string; family: 4 | 6 };

/** `servers`: the name servers; default: the system's. */
export function createResolver(servers?: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: QUERY_MS, maxTimeout: QUERY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/**
 * At least one address; throws when there is none. If only one of the two families is known in
 * time, that is enough.
 */
export async function queryAddresses(resolver: Resolver, hostname: string): Promise<Address[]> {
  const late = () => Object.assign(new Error('no answer in time'), { code: TIMEOUT });
  const [v4, v6] = await Promise.allSettled([
    withTimeout(resolver.resolve4(hostname), ANSWER_MS_MAX, late),
    withTimeout(resolver.resolve6(hostname), ANSWER_MS_MAX, late),
  ]);
  const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
  if (found.length === 0) throw new Error(`${hostname} does not resolve${whyOf(v4)}`);
  return found;
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

function whyOf(result: PromiseSettledResult<string[]>): string {
  if (result.status === 'fulfilled') return '';
  const { code } = result.reason as NodeJS.ErrnoException;
  return code === undefined ? '' : ` (${code})`;
}
