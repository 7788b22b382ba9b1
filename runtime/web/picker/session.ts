/**
 * The library session: what its token says may be done, and a new one from the host before and when it ends. The token
 * stays in this variable: it is in no URL and no storage. Spec: Library sessions.
 */

export type SessionFacts = {
  readonly permissions: readonly string[];
  readonly folder: string;
  readonly max_file_bytes: number;
  /** Unix seconds. */
  readonly iat: number;
  readonly exp: number;
};

/** A minute before its end; half of a very short one. */
const EARLY_SECONDS_MAX = 60;
/** How long a call waits for the host to hand over a new token. */
const REFRESH_MS_MAX = 15_000;

export class Session {
  #token = '';
  /** Of a token that cannot be read: it is asked with, so that the service says what is wrong with it. */
  #facts: SessionFacts = { permissions: ['browse'], folder: '', max_file_bytes: 0, iat: 0, exp: 0 };
  /** Until a new one is asked for. */
  #timer = 0;
  /** Until who waits for it is told that none came. */
  #patience = 0;
  #waiting: ((state: 'renewed' | 'given up') => void)[] = [];
  readonly #ask: (code: string) => void;

  /** `ask` tells the host that a new one is wanted, and why. */
  constructor(ask: (code: string) => void) {
    this.#ask = ask;
  }

  get token(): string {
    return this.#token;
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  may(permission: 'browse' | 'upload'): boolean {
    const { permissions } = this.#facts;
    return permission === 'upload'
      ? permissions.includes('upload')
      : permissions.includes('browse') || permissions.includes('browse_own');
  }

  take(token: string): void {
    this.#token = token;
    this.#facts = readFacts(token) ?? this.#facts;
    this.#planNext();
    this.#tell('renewed');
  }

  /** By the token's own times: a clock that is hours ahead would ask for one after the other. */
  #planNext(): void {
    const { iat, exp } = this.#facts;
    const seconds = exp - iat - Math.min(EARLY_SECONDS_MAX, (exp - iat) / 2);
    window.clearTimeout(this.#timer);
    if (seconds <= 0) return;
    this.#timer = window.setTimeout(() => this.#ask('session_expired'), seconds * 1000);
  }

  /** Resolves with whether there is another token now. */
  renew(code: string): Promise<'renewed' | 'given up'> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length > 1) return;
      this.#ask(code);
      this.#patience = window.setTimeout(() => this.#tell('given up'), REFRESH_MS_MAX);
    });
  }

  #tell(state: 'renewed' | 'given up'): void {
    window.clearTimeout(this.#patience);
    for (const resolve of this.#waiting.splice(0)) resolve(state);
  }
}

/** The payload is readable; whether it is true is the service's to say. */
function readFacts(token: string): SessionFacts | undefined {
  const payload = token.split('.')[2] ?? '';
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
      each.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes)) as SessionFacts;
  } catch {
    return undefined;
  }
}
