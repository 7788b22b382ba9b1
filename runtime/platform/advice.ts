/** An error made for the person at the terminal: its message is one line that says what to do. */
export class Advice extends Error {
  override readonly name: string = 'Advice';
  /** 1: failed, 2: used wrongly. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { cause?: unknown; exitCode?: 1 | 2 } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}

/** A server is away: it comes back by itself, and whoever can wait waits. */
export class Away extends Advice {}
