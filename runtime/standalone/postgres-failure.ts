// The error of a failed start of the embedded PostgreSQL: one line that says what to do.
import { Advice } from '../platform/advice.ts';
import type { PidFile } from './postgres-pid-file.ts';

export class PostgresFailure extends Advice {
  override readonly name = 'PostgresFailure';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** For a server that neither becomes ready nor ends; the next start recovers from this signal. */
export function earlierServerRunning({ pid, status }: PidFile, log: string): PostgresFailure {
  return new PostgresFailure(
    `the PostgreSQL of an earlier start is still ${status}: end it with \`kill -QUIT ${pid}\`, and start again (${log})`,
  );
}

/** For a server whose data folder is not a complete database. */
export function databaseUnreadable(folder: string, cause: unknown): PostgresFailure {
  const why = cause instanceof Error ? (cause.cause ?? cause) : cause;
  return new PostgresFailure(
    `the database in ${folder} cannot be opened (${why instanceof Error ? why.message : why}): restore the folder from a backup, or start with an empty one (--data)`,
    cause,
  );
}
