// What a start of the embedded PostgreSQL fails with: one line that says what to do.
import { Advice } from '../platform/advice.ts';

export class PostgresFailure extends Advice {
  override readonly name = 'PostgresFailure';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
