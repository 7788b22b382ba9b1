// Verifies access tokens of the external identity provider. Spec: Authentication, Credentials, BrowserSession: RS256
// only, client-scoped issuer, exp and sub required; a faulty token is `unauthorized`, and only an unavailable key set
// is `auth_unavailable`.
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JWK,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { ServiceError } from '../core/errors.ts';
import { findJsonFault } from '../core/unclear-json.ts';
import type { Clock } from './clock.ts';
import { createKeySet, type KeySet } from './key-set.ts';

const ALGORITHM = 'RS256';
const CLOCK_SKEW_SECONDS = 60;
const TOKEN_CHARACTERS_MAX = 16_384;
/** The bound of OpenID Connect. */
const SUBJECT_CHARACTERS_MAX = 255;
const TOKEN_TYPES = ['jwt', 'at+jwt'];

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

export type Identity = { verify(token: string): Promise<{ sub: string }> };

export type IdentityOptions = {
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly audience?: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
};

export function createIdentity(options: IdentityOptions): Identity {
  const { jwksUrl: url, clock, fetch = globalThis.fetch } = options;
  const keySet = createKeySet({ url, clock, fetch, parse: parseKeys });
  return {
    async verify(token) {
      checkHeader(token);
      const find = await keySet.current();
      if (find === undefined) throw outage(keySet);
      try {
        return await verifyWith(find, token, options);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw refusal(error);
        return await verifyWithFreshKeys({ keySet, token, options });
      }
    },
  };
}

/** Checked before any fetch: a token with another algorithm or type never costs a request. */
function checkHeader(token: string): void {
  if (token.length > TOKEN_CHARACTERS_MAX || !isExact(token))
    throw new ServiceError('unauthorized');
  const { alg, typ } = parseHeader(token);
  refuseUnclear(token);
  const type = typ?.toLowerCase().replace(/^application\//, '');
  const isOurs = alg === ALGORITHM && (type === undefined || TOKEN_TYPES.includes(type));
  if (!isOurs) throw new ServiceError('unauthorized');
}

/**
 * Whether each part of a token is base64url without padding and spare bits, as RFC 7515 writes it:
 * the decoder of `jose` also takes other spellings of the same bytes.
 */
function isExact(token: string): boolean {
  return token
    .split('.')
    .every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function parseHeader(token: string): { alg?: string | undefined; typ?: string | undefined } {
  try {
    const { alg, typ } = decodeProtectedHeader(token);
    return { alg, typ: typ === undefined ? undefined : String(typ) };
  } catch (error) {
    throw refusal(error);
  }
}

/** Two parsers must not read two different subjects from one token. */
function refuseUnclear(token: string): void {
  for (const part of token.split('.', 2)) {
    const fault = findJsonFault(Buffer.from(part, 'base64url').toString());
    if (fault !== undefined) throw refusal(new Error(fault.what));
  }
}

async function verifyWith(
  find: KeyFinder,
  token: string,
  { issuer, audience, clock }: IdentityOptions,
): Promise<{ sub: string }> {
  const checks: JWTVerifyOptions = {
    algorithms: [ALGORITHM],
    issuer,
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: clock.now(),
    requiredClaims: ['exp', 'sub'],
  };
  if (audience !== undefined) checks.audience = audience;
  const { payload } = await jwtVerify(token, find, checks);
  const { sub } = payload;
  const isName = typeof sub === 'string' && sub.length >= 1 && sub.length <= SUBJECT_CHARACTERS_MAX;
  if (!isName) throw new Error('the sub is not a subject');
  return { sub };
}

/**
 * A key that the set lacks may be new: one rate-limited refetch, so that a key rotation causes
 * failures for seconds at most.
 */
async function verifyWithFreshKeys(attempt: {
  keySet: KeySet<KeyFinder>;
  token: string;
  options: IdentityOptions;
}): Promise<{ sub: string }> {
  const isReachable = await attempt.keySet.refetchForUnknownKid();
  const find = isReachable ? await attempt.keySet.current() : undefined;
  if (find === undefined) throw outage(attempt.keySet);
  try {
    return await verifyWith(find, attempt.token, attempt.options);
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(cause: unknown): ServiceError {
  return new ServiceError('unauthorized', { cause });
}

function outage(keySet: KeySet<KeyFinder>): ServiceError {
  return new ServiceError('auth_unavailable', { cause: keySet.lastFailure() });
}

/** Only RSA keys; a document without any is a fault of the provider, never a good set. */
function parseKeys(document: unknown): KeyFinder {
  const { keys } = document as { keys?: unknown };
  const usable = Array.isArray(keys) ? keys.filter(isRsaKey) : [];
  if (usable.length === 0) throw new Error('the key set holds no RSA key');
  return createLocalJWKSet({ keys: usable });
}

/** How many keys of a key set can verify our tokens; throws when the document is not a key set. */
export function countSigningKeys(document: unknown): number {
  const { keys } = document as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the document holds no list of keys');
  return keys.filter(isRsaKey).filter(({ alg = ALGORITHM, use = 'sig' }) => {
    return alg === ALGORITHM && use === 'sig';
  }).length;
}

function isRsaKey(key: unknown): key is JWK & { kty: string } {
  return typeof key === 'object' && key !== null && 'kty' in key && key.kty === 'RSA';
}
