/**
 * The addresses of a name, asked of the name server by queries of our own: the system's lookup shares four threads with
 * every other one of the process, and a silent name server would hold them all. The hosts file and the search list of
 * the system count for nothing here.
 */
import { Resolver } from 'node:dns/promises';

const QUERY_MS = 2_000;
const TRIES = 2;

export type Address = { address: string; family: 4 | 6 };

/** `servers` are those of the system unless a test brings its own. */
export function createResolver(servers?: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: QUERY_MS, maxTimeout: QUERY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** At least one; throws where there is none. */
export async function queryAddresses(resolver: Resolver, hostname: string): Promise<Address[]> {
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
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
