// What a start of the embedded PostgreSQL fails with: one line that says what to do.
import { Advice } from '../platform/advice.ts';
import type { PidFile } from './postgres-pid-file.ts';

export class PostgresFailure extends Advice {
  override readonly name = 'PostgresFailure';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** Of a server that neither becomes ready nor ends; its next start recovers from this signal. */
export function leftBehind({ pid, status }: PidFile, log: string): PostgresFailure {
  return new PostgresFailure(
    `the PostgreSQL of an earlier start is still ${status}: end it with \`kill -QUIT ${pid}\`, and start again (${log})`,
  );
}

/** Of a server that runs on what is no whole database. */
export function unopened(folder: string, cause: unknown): PostgresFailure {
  const why = cause instanceof Error ? (cause.cause ?? cause) : cause;
  return new PostgresFailure(
    `the database in ${folder} cannot be opened (${why instanceof Error ? why.message : why}): restore the folder from a backup, or start with an empty one (--data)`,
    cause,
  );
}
