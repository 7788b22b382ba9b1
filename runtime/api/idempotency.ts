/**
 * POST with an Idempotency-Key: the first call does the work, and repetitions get the same answer for a day. The answer
 * is stored encrypted, for `once` endpoints in the transaction of the effect; a refusal has no effect and stores
 * nothing.
 * Our addition to Spec: Conventions.
 */
import { createHash, randomUUID } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';
import { wrongInput } from '../core/input-issue.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from '../core/limits.ts';
import { parseProjectSlug } from '../core/slug.ts';
import type { Queryable } from '../db/client.ts';
import {
  claimIdempotencyKey,
  deleteIdempotencyClaim,
  findIdempotencyKey,
  type IdempotencyClaim,
  type IdempotencyRow,
  updateIdempotencyAnswer,
} from '../db/idempotency-keys.ts';
import { joinTransaction } from '../db/joined-transaction.ts';
import { openSecret } from '../platform/open-secret.ts';
import type { Sealing } from '../platform/sealing.ts';
import { idempotentAnswerContext } from '../platform/sealing-contexts.ts';
import type { Principal } from './auth/principal.ts';
import type { Answer, EndpointFacts, RawCall } from './endpoint.ts';

type Facts = Pick<EndpointFacts, 'method' | 'path' | 'effect'>;
/** Performs the effect and returns the answer; `deps.db` may be a transaction. */
export type IdempotentWork = (deps: RawCall['deps']) => Promise<Answer>;

/**
 * Runs the work, or returns the stored answer of the first call. `begin` holds the steps before the
 * effect. Throws idempotency_key_reused and idempotency_in_progress.
 */
export async function answerIdempotently(
  facts: Facts,
  call: RawCall,
  begin: (call: RawCall) => Promise<IdempotentWork>,
): Promise<Answer> {
  const claim = claimOf(facts, call);
  if (claim === undefined) return (await begin(call))(call.deps);
  const { db, sealing } = call.deps;
  if (!(await claimIdempotencyKey(db, claim))) {
    return repeat(sealing, claim, await findIdempotencyKey(db, claim));
  }
  try {
    const work = await begin(call);
    return facts.effect === 'once'
      ? await workInTransaction(call, claim, work)
      : await workThenStore(call, claim, work);
  } catch (error) {
    await release(call, claim);
    throw error;
  }
}

/** Undefined if the caller sent no key, or an invalid slug, with which the call has no effect. */
function claimOf({ method, path }: Facts, call: RawCall): IdempotencyClaim | undefined {
  const { idempotency_key, principal, params } = call;
  if (method !== 'POST' || idempotency_key === undefined || principal.kind === 'none') return;
  if (!KEY.test(idempotency_key)) throw malformed();
  const { slug } = params;
  if (slug !== undefined && parseProjectSlug(slug) === undefined) return;
  const request = JSON.stringify([
    method,
    path,
    sorted(params),
    sorted(call.query),
    sorted(call.body),
  ]);
  return {
    caller: callerOf(principal),
    project_slug: slug ?? '',
    idempotency_key,
    request_hash: createHash('sha256').update(request).digest(),
    claim_id: randomUUID(),
  };
}

const KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}}$`);

function malformed(): ServiceError {
  const message = `expected 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters, such as a UUID`;
  return wrongInput({ path: 'Idempotency-Key', message });
}

function callerOf(principal: Exclude<Principal, { kind: 'none' }>): string {
  switch (principal.kind) {
    case 'key':
      return principal.key.key_id;
    case 'library_session':
      return principal.claims.session_id;
    case 'dash':
      return principal.user.user_id;
  }
}

/** Sorts the fields of every object: two prints of the same JSON get the same hash. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}

function repeat(
  sealing: Sealing,
  claim: IdempotencyClaim,
  row: IdempotencyRow | undefined,
): Answer {
  if (row !== undefined && !row.request_hash.equals(claim.request_hash)) {
    throw new ServiceError('idempotency_key_reused');
  }
  return (row && storedAnswer(sealing, row)) ?? inProgress();
}

const RETRY_AFTER_SECONDS = 1;

function inProgress(): never {
  throw new ServiceError('idempotency_in_progress', { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function storedAnswer(sealing: Sealing, row: IdempotencyRow): Answer | undefined {
  const { status, sealed_answer, claim_id } = row;
  if (status === null || sealed_answer === null) return undefined;
  const text = openSecret(sealing, sealed_answer, idempotentAnswerContext(claim_id)).toString();
  return { status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Effect and answer commit together or not at all. */
async function workInTransaction(
  call: RawCall,
  claim: IdempotencyClaim,
  work: IdempotentWork,
): Promise<Answer> {
  const { db, sealing } = call.deps;
  return db.transaction(
    async (tx) => {
      const answer = await work({ ...call.deps, db: joinTransaction(tx) });
      const isMine = await store({ db: tx, sealing }, claim, answer);
      return isMine ? answer : inProgress();
    },
    { settle: (fresh) => findMine({ db: fresh, sealing }, claim) },
  );
}

/** After a commit in doubt: finds the answer, which exists only if the transaction committed. */
async function findMine(
  { db, sealing }: { db: Queryable; sealing: Sealing },
  claim: IdempotencyClaim,
): Promise<Answer | undefined> {
  const row = await findIdempotencyKey(db, claim);
  return row?.claim_id === claim.claim_id ? storedAnswer(sealing, row) : undefined;
}

/** For work that is safe to repeat: only its answer is stored, and given even if that fails. */
async function workThenStore(
  call: RawCall,
  claim: IdempotencyClaim,
  work: IdempotentWork,
): Promise<Answer> {
  const answer = await work(call.deps);
  const isMine = await store(call.deps, claim, answer).catch(async (error: unknown) => {
    const { request_id } = call;
    call.deps.log.warn('the response for an Idempotency-Key was not stored', { request_id, error });
    await release(call, claim);
    return true;
  });
  return isMine ? answer : inProgress();
}

async function store(
  { db, sealing }: { db: Queryable; sealing: Sealing },
  claim: IdempotencyClaim,
  { status, body }: Answer,
): Promise<boolean> {
  const text = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const sealed_answer = sealing.seal(text, idempotentAnswerContext(claim.claim_id));
  return updateIdempotencyAnswer(db, claim, { status, sealed_answer });
}

/** If the database is unavailable, the claim stays until its lease ends. */
async function release(call: RawCall, claim: IdempotencyClaim): Promise<void> {
  const { db, log } = call.deps;
  try {
    await deleteIdempotencyClaim(db, claim);
  } catch (error) {
    log.warn('an Idempotency-Key could not be released', { request_id: call.request_id, error });
  }
}
