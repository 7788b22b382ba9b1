/**
 * The name server's answer at the moment of a connection, held against the rule for addresses: a name that was public
 * when it was saved may lead inwards now. Spec: Events (the callback URL must resolve to a public address).
 */
import type { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './egress.ts';
import { type Address, createResolver, queryAddresses } from './query-addresses.ts';

export type PublicLookup = LookupFunction;

/** `servers` are those of the system unless a test brings its own. */
export function publicLookup(servers?: readonly string[]): PublicLookup {
  const resolver = createResolver(servers);
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

/** One address inside is enough to refuse the name: which of them is connected to is up to chance. */
async function findPublic(resolver: Resolver, hostname: string): Promise<Address[]> {
  const found = await queryAddresses(resolver, hostname);
  if (found.every(({ address }) => isPublicAddress(address))) return found;
  throw new Error(`${hostname} resolves to a private or reserved address`);
}
