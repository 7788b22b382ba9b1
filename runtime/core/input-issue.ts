/**
 * The faults of an input, field by field, and the one refusal that lists them. Spec: Envelope (details of
 * invalid_request).
 */
import { ServiceError } from './errors.ts';

/** One wrong field: `path` as a person writes it (`parts[0].etag`), `message` what was expected. */
export type InputIssue = { path: string; message: string };

/** The refusal that lists all issues. */
export function wrongInput(...issues: readonly InputIssue[]): ServiceError {
  return new ServiceError('invalid_request', { details: { issues } });
}

/** Throws if there are any issues. */
export function refuseWrongInput(issues: readonly InputIssue[]): void {
  if (issues.length > 0) throw wrongInput(...issues);
}
