/**
 * Resolves a name at the moment of a connection and checks the addresses: a name that was public when it was saved may
 * point inwards now. Spec: Events (the callback URL must resolve to a public address).
 */
import type { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './egress.ts';
import { type Address, createResolver, queryAddresses } from './query-addresses.ts';

export type PublicLookup = LookupFunction;

/** `servers`: the name servers; default: the system's. */
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

/**
 * One internal address is enough to refuse the name, because chance decides which address is
 * connected to.
 */
async function findPublic(resolver: Resolver, hostname: string): Promise<Address[]> {
  const found = await queryAddresses(resolver, hostname);
  if (found.every(({ address }) => isPublicAddress(address))) return found;
  throw new Error(`${hostname} resolves to a private or reserved address`);
}
