/**
 * The library session: what its token permits, and its renewal by the host before and when it expires. The token is
 * held only in memory, never in a URL or in storage. Spec: Library sessions.
 */

export type SessionFacts = {
  readonly permissions: readonly string[];
  readonly folder: string;
  readonly max_file_bytes: number;
  /** Unix seconds. */
  readonly iat: number;
  readonly exp: number;
};

/** A token is renewed a minute before it expires, or at half of a very short lifetime. */
const EARLY_SECONDS_MAX = 60;
/** How long a call waits for the host to send a new token. */
const REFRESH_MS_MAX = 15_000;

export type SessionEvents = {
  /** The session has ended, and no new token arrived in time: the page must show nothing of the library. */
  readonly onEnd: (code: string) => void;
  /** A token has arrived, also after `onEnd`. */
  readonly onToken: () => void;
};

export class Session {
  #token = '';
  /** The default for an unreadable token: enough to try it, so that the service names the fault. */
  #facts: SessionFacts = { permissions: ['browse'], folder: '', max_file_bytes: 0, iat: 0, exp: 0 };
  /** Fires when the next token should be requested. */
  #timer = 0;
  /** Fires when the token expires. */
  #expiry = 0;
  /** Fires when waiting callers must be told that no token arrived. */
  #patience = 0;
  #waiting: ((state: 'renewed' | 'given up') => void)[] = [];
  readonly #ask: (code: string) => void;
  #events: SessionEvents | undefined;

  /** `ask` requests a new token from the host, with a code as the reason. */
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

  watch(events: SessionEvents): void {
    this.#events = events;
  }

  take(token: string): void {
    this.#token = token;
    this.#facts = readFacts(token) ?? this.#facts;
    this.#planNext();
    this.#tell('renewed');
    this.#events?.onToken();
  }

  /** To be called when a token is refused for good and there is no other one. */
  end(code: string): void {
    this.#events?.onEnd(code);
  }

  /**
   * Relative to the token's own times: with a clock that is hours ahead, each token would be
   * replaced at once.
   */
  #planNext(): void {
    const { iat, exp } = this.#facts;
    const seconds = exp - iat - Math.min(EARLY_SECONDS_MAX, (exp - iat) / 2);
    window.clearTimeout(this.#timer);
    window.clearTimeout(this.#expiry);
    if (seconds <= 0) return;
    this.#timer = window.setTimeout(() => this.#ask('session_expired'), seconds * 1000);
    this.#expiry = window.setTimeout(() => void this.#expire(), (exp - iat) * 1000);
  }

  /** Nobody may be calling the service, which would say that the token has expired. */
  async #expire(): Promise<void> {
    const code = 'session_expired';
    if ((await this.renew(code)) === 'given up') this.end(code);
  }

  /** Resolves with whether a new token has arrived. */
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

/** The payload is readable; only the service verifies it. */
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
