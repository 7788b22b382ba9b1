/**
 * Limits guesses at credentials. After too many failed authentications from one address within the minute, unknown
 * credentials from it are looked up one at a time, and refused without a look-up if many wait. Guesses stay cheap, and
 * people behind one address do not lock one another out. Spec: Rates.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../core/errors.ts';
import { inboundCredential } from '../auth/inbound-signature.ts';
import { presentedCredential } from '../auth/presented-credential.ts';
import { type Credential, isOpen, type Principal } from '../auth/principal.ts';
import { networkOf } from '../client-network.ts';
import type { MinuteRate } from './minute-rate.ts';
import { createSerialQueue } from './serial-queue.ts';

export type AuthFailureLimiter = {
  /** Runs `authorize`, or throws: its failure, or rate_limited. */
  run(call: Attempt, authorize: () => Promise<Principal>): Promise<Principal>;
};

type Attempt = { allowed: readonly Credential[]; headers: IncomingHttpHeaders; address: string };

/** Hashes of credentials that authenticated successfully; a few MB at most. */
const KNOWN_MAX = 10_000;
/** Per address that failed too often; a look-up takes a millisecond or two. */
const WAITING_MAX = 32;

export function createAuthFailureLimiter(failures: MinuteRate): AuthFailureLimiter {
  const known = new LRUCache<string, true>({ max: KNOWN_MAX });
  const file = createSerialQueue(WAITING_MAX);
  return {
    async run(attempt, authorize) {
      const subject = networkOf(attempt.address);
      const credential = credentialHash(attempt);
      const look = async () => {
        try {
          const principal = await authorize();
          if (credential !== undefined) known.set(credential, true);
          return principal;
        } catch (error) {
          if (!isFailure(error)) throw error;
          if (credential !== undefined && error.code === 'unauthorized') known.delete(credential);
          await failures.take(subject);
          throw error;
        }
      };
      const isGuess = credential !== undefined && !known.has(credential);
      if (!isGuess || !failures.isSpent(subject)) return look();
      if (file.isFull(subject)) failures.refuseSpent(subject);
      return file.run(subject, look);
    },
  };
}

/** Undefined when authentication needs no look-up of a credential. */
function credentialHash({ allowed, headers }: Attempt): string | undefined {
  if (isOpen(allowed) || inboundCredential(allowed) !== undefined) return undefined;
  const presented = presentedCredential(headers);
  switch (presented.kind) {
    case 'key':
      return sha256(presented.secret);
    case 'access-token':
      return sha256(presented.token);
    case 'library-session':
    case 'nothing':
      return undefined;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Codes of failed authentications. */
const FAILURES: ReadonlySet<string> = new Set([
  'unauthorized',
  'invalid_request_signature',
  'invalid_signature',
  'invalid_session',
]);

function isFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && FAILURES.has(error.code);
}
