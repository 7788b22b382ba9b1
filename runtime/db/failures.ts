// Failures on the way to PostgreSQL, in the specification's terms (Spec: Errors): a statement over its deadline is
// query_timeout, a server that is down or refuses work is storage_unavailable. Constraint violations keep the
// constraint's name, so that a caller can say what was taken.
import { ServiceError } from '../core/errors.ts';
import { isConnectionCode, isOutage } from '../core/outage.ts';

/**
 * The answer to COMMIT was lost: the effect may exist or not. Uncaught, it is a
 * storage_unavailable.
 */
export class InDoubtCommit extends ServiceError {
  constructor(cause: unknown) {
    super('storage_unavailable', { cause });
  }
}

/** PostgreSQL's errors, recognized by their fields, so that only client.ts imports pg. */
type SqlError = Error & {
  code: string;
  severity: string;
  constraint?: string;
  column?: string;
  table?: string;
};

export type ConstraintKind = 'unique' | 'foreign_key' | 'check' | 'not_null' | 'exclusion';

/** A constraint of the schema rejected a row; the connection is fine. */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
  readonly kind: ConstraintKind;
  /** The constraint's (or unique index's) name in the schema; for not_null the column's. */
  readonly constraint: string;
  readonly table: string;

  constructor(kind: ConstraintKind, error: SqlError) {
    super(error.message, { cause: error });
    this.kind = kind;
    this.constraint = error.constraint ?? error.column ?? '';
    this.table = error.table ?? '';
  }
}

const CONSTRAINT_KINDS: Readonly<Record<string, ConstraintKind>> = {
  '23505': 'unique',
  '23503': 'foreign_key',
  '23514': 'check',
  '23502': 'not_null',
  '23P01': 'exclusion',
};

const STATEMENT_CANCELLED = '57014';
const READ_ONLY_TRANSACTION = '25006';
const INSUFFICIENT_PRIVILEGE = '42501';
const IDLE_TRANSACTION_ENDED = '25P03';
const COMPLETION_UNKNOWN = '40003';
const FEATURE_NOT_SUPPORTED = '0A000';
/** A wrong user, password, or name of the database. */
const LOGIN_REFUSED = /^(28|3D)/;
const RETRYABLE = ['40001', '40P01'];

/** The error in the terms of this project, with PostgreSQL's as its cause. */
export function describeFailure(error: unknown): unknown {
  if (!isSqlError(error)) return describeBrokenConnection(error);
  const { code } = error;
  const kind = CONSTRAINT_KINDS[code];
  if (kind !== undefined) return new ConstraintViolation(kind, error);
  if (code === STATEMENT_CANCELLED) return new ServiceError('query_timeout', { cause: error });
  if (isServerAway(error)) return new ServiceError('storage_unavailable', { cause: error });
  return error;
}

/**
 * Whether the outage ends by itself: the server is down, or too slow to answer, but did not refuse
 * the login, which somebody must fix.
 */
export function isTransient(error: unknown): boolean {
  if (!isOutage(error)) return false;
  const { cause } = error;
  return !isSqlError(cause) || !LOGIN_REFUSED.test(cause.code);
}

/**
 * A running server refused to write: it has no space (53) or a disk that fails (58), or is a
 * standby or read-only.
 */
export function isWriteRefused(error: unknown): boolean {
  return isSqlError(error) && (/^5[38]/.test(error.code) || error.code === READ_ONLY_TRANSACTION);
}

export function isMissingPrivilege(error: unknown): boolean {
  return isSqlError(error) && error.code === INSUFFICIENT_PRIVILEGE;
}

/** PostgreSQL's own message, which never contains a password. */
export function databaseMessage(error: unknown): string {
  const cause = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  const { code, message } = cause as { code?: string; message?: string };
  return message || code || 'no answer';
}

/**
 * Deadlocks, serialization failures and outdated plans: the transaction was rolled back, and
 * repeating it is right.
 */
export function isRetryable(error: unknown): boolean {
  return isOutdatedPlan(error) || (isSqlError(error) && RETRYABLE.includes(error.code));
}

/**
 * A migration changed a prepared statement's result: PostgreSQL refuses to run it, recognizable
 * only by this message.
 */
export function isOutdatedPlan(error: unknown): boolean {
  const isUnsupported = isSqlError(error) && error.code === FEATURE_NOT_SUPPORTED;
  return isUnsupported && error.message.includes('cached plan must not change result type');
}

/**
 * Only an ERROR in answer to COMMIT proves that it did not happen; a lost connection or a FATAL
 * proves nothing.
 */
export function isInDoubt(error: unknown): boolean {
  if (!isSqlError(error)) return true;
  return error.severity !== 'ERROR' || error.code === COMPLETION_UNKNOWN;
}

// pg reports timeouts and broken connections as plain errors; only those of socket and TLS have a
// code.
function describeBrokenConnection(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message === 'Query read timeout')
    return new ServiceError('query_timeout', { cause: error });
  const isConnection =
    ('code' in error && isConnectionCode(String(error.code))) ||
    error instanceof AggregateError ||
    /^(Connection terminated|Client (has encountered|was closed)|timeout exceeded when trying to connect)/.test(
      error.message,
    );
  return isConnection ? new ServiceError('storage_unavailable', { cause: error }) : error;
}

// 08 connection, 57P operator intervention, 53 out of resources, 58 system error, XX internal;
// read-only after failover. When PostgreSQL panics (its log cannot be written, the disk is
// read-only) the code can be any.
function isServerAway({ code, severity }: SqlError): boolean {
  return (
    /^(08|57P|53|58|XX)/.test(code) ||
    code === READ_ONLY_TRANSACTION ||
    code === IDLE_TRANSACTION_ENDED ||
    severity === 'FATAL' ||
    severity === 'PANIC'
  );
}

function isSqlError(error: unknown): error is SqlError {
  return error instanceof Error && 'severity' in error && 'code' in error;
}
