/**
 * The name server's answer at the moment of a connection, held against the rule for addresses: a name that was public
 * when it was saved may lead inwards now. Asked by queries of our own, because the system's lookup shares four threads
 * with every other one of the process, and a silent name server would hold them all.
 * Spec: Events (the callback URL must resolve to a public address).
 */
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './egress.ts';

export type PublicLookup = LookupFunction;

const QUERY_MS = 2_000;
const TRIES = 2;

/** `servers` are those of the system unless a test brings its own. */
export function publicLookup(servers?: readonly string[]): PublicLookup {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, options, callback) => {
    findPublic(resolver, hostname).then(
      (addresses) => {
        const [first = { address: '', family: 4 }] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 4),
    );
  };
}

type Address = { address: string; family: 4 | 6 };

/** One address inside is enough to refuse the name: which of them is connected to is up to chance. */
async function findPublic(resolver: Resolver, hostname: string): Promise<Address[]> {
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
  if (found.length === 0) throw new Error(`${hostname} does not resolve${whyOf(v4)}`);
  if (found.every(({ address }) => isPublicAddress(address))) return found;
  throw new Error(`${hostname} resolves to a private or reserved address`);
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

function whyOf(result: PromiseSettledResult<string[]>): string {
  if (result.status === 'fulfilled') return '';
  const { code } = result.reason as NodeJS.ErrnoException;
  return code === undefined ? '' : ` (${code})`;
}
