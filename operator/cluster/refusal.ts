/**
 * Why somebody else refused our write, in one sentence: a quota, an admission webhook, a constraint of the database.
 */
import { ConstraintViolation } from '../../runtime/db/failures.ts';
import { type FailureReason, KubeFailure } from '../kube/kube-failure.ts';

const REFUSALS: readonly FailureReason[] = ['BadRequest', 'Forbidden', 'Invalid', 'Refused'];

/** Undefined: the error is not a refusal. */
export function refusalOf(error: unknown): string | undefined {
  if (error instanceof ConstraintViolation) return `the database refuses it: ${error.message}`;
  const isOfServer = error instanceof KubeFailure && REFUSALS.includes(error.reason);
  return isOfServer ? `the API server refuses it: ${error.message}` : undefined;
}
