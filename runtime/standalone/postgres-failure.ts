// What a start of the embedded PostgreSQL fails with: one line that says what to do.

export class PostgresFailure extends Error {
  override readonly name = 'PostgresFailure';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
