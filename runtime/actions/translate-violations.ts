/** Turns violated constraints of the schema into error codes of the API. */
import { type ApiErrorCode, ServiceError } from '../core/errors.ts';
import { ConstraintViolation } from '../db/failures.ts';

/** `codes`: by the name of the constraint; other errors are passed on. */
export async function translateViolations<Result>(
  work: Promise<Result>,
  codes: Readonly<Record<string, ApiErrorCode>>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof ConstraintViolation ? codes[error.constraint] : undefined;
    throw code === undefined ? error : new ServiceError(code, { cause: error });
  }
}
