/** Returns the issues that an input parser reports, or none if it accepts the input. */

import { ServiceError } from '../../runtime/core/errors.ts';
import type { InputIssue } from '../../runtime/core/input-issue.ts';

export function wrongInput(parse: () => unknown): InputIssue[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return (error.details as { issues: InputIssue[] }).issues;
  }
}
