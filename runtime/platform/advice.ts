/** An error for the person at the terminal: its message is one line that says what to do. */
export class Advice extends Error {
  override readonly name: string = 'Advice';
  /** 1: the command failed; 2: it was used wrongly. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { cause?: unknown; exitCode?: 1 | 2 } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

/** A server is away: it comes back by itself, and callers that can wait do so. */
export class ServerUnavailable extends Advice {}
