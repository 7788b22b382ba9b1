/** Checks of the identity provider, of the targets that webhooks may have, and of the CDN to purge. */
import { CdnRefusal } from '../platform/cdn/cdn.ts';
import { openCdn } from '../platform/cdn/open-cdn.ts';
import { systemClock } from '../platform/clock.ts';
import { countSigningKeys } from '../platform/identity.ts';
import { createKeySet } from '../platform/key-set.ts';
import { ANSWER_MS_MAX, type Check, type Finding, ok, skipped, wrong } from './check.ts';
import type { Subject } from './subject.ts';

const PROVIDER =
  'check TINTYPE_IDENTITY_JWKS_URL, and whether the provider can be reached from here';

export const identityChecks: readonly Check<Subject>[] = [
  { area: 'identity provider', name: 'key set', run: findKeys, advice: PROVIDER },
];

async function findKeys({ jwksUrl }: Subject): Promise<Finding> {
  if (jwksUrl === undefined) {
    return skipped('TINTYPE_IDENTITY_JWKS_URL is not set; only the API needs it');
  }
  const keySet = createKeySet({
    url: jwksUrl,
    clock: systemClock,
    fetch: globalThis.fetch,
    deadline_ms: ANSWER_MS_MAX,
    parse: countSigningKeys,
  });
  const count = await keySet.current();
  if (count === undefined) throw keySet.lastFailure();
  return count === 0
    ? wrong('no key for RS256', 'let the provider sign with RS256: nothing else is accepted')
    : ok(`${count} ${count === 1 ? 'key' : 'keys'} for RS256`);
}

export const egressChecks: readonly Check<Subject>[] = [
  { area: 'webhooks', name: 'egress', run: findEgress, advice: 'set TINTYPE_CALLBACK_EGRESS' },
];

async function findEgress({ config }: Subject): Promise<Finding> {
  if (config.callbackEgress === 'public') return ok('to public https addresses only');
  return {
    outcome: 'warning',
    says: 'to any address, loopback and private networks among them',
    advice: 'unset TINTYPE_CALLBACK_EGRESS: `any` is for tests',
  };
}

export const cdnChecks: readonly Check<Subject>[] = [
  { area: 'CDN', name: 'purges', run: tryCdn, advice: 'compare TINTYPE_CDN with docs/cdn.md' },
];

/** Purges nothing. */
async function tryCdn({ config }: Subject): Promise<Finding> {
  if (config.cdn === 'none') return skipped('TINTYPE_CDN is none: nothing is purged');
  try {
    const cdn = openCdn(config, systemClock);
    const { says, advice } = await cdn.check(AbortSignal.timeout(ANSWER_MS_MAX));
    return advice === undefined ? ok(says) : { outcome: 'warning', says, advice };
  } catch (error) {
    if (error instanceof CdnRefusal) return wrong(error.facts.says, error.facts.advice);
    throw error;
  }
}
