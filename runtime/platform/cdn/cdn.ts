/** What the service needs from a CDN: purging. Spec: Caching and response headers. */

export type Cdn = {
  /** The maximum number of purges per call of `purge`. */
  readonly batch_max: number;
  /**
   * Purges in as few calls as the API allows. Returns the refused purges with the reasons; they
   * must be retried.
   */
  purge<Purge extends CdnPurge>(
    purges: readonly Purge[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Purge, CdnRefusal>>;
  /**
   * Tests address and credentials without purging anything; throws a CdnRefusal when they are
   * wrong.
   */
  check(signal: AbortSignal): Promise<CdnHealth>;
};

export type CdnPurge = {
  project_id: string;
  project_slug: string;
  custom_domains: readonly string[];
  /** Null: the whole project. */
  file_slug: string | null;
  /** The tag of the file's images. Null when unknown; the whole project is then purged. */
  file_id: string | null;
};

/** `advice` is set when something could not be tested. */
export type CdnHealth = { says: string; advice?: string };

export type RefusalFacts = {
  says: string;
  advice: string;
  /** `call`: only this call; `all`: every call, so that none is sent for now. */
  concerns: 'call' | 'all';
  /** The wait that the CDN asked for. */
  retry_after_seconds?: number | undefined;
};

/** Why a CDN refused something, and what to do. */
export class CdnRefusal extends Error {
  readonly facts: RefusalFacts;

  constructor(facts: RefusalFacts, options?: { cause: unknown }) {
    super(`${facts.says}: ${facts.advice}`, options);
    this.name = 'CdnRefusal';
    this.facts = facts;
  }
}

/** Without a CDN there is nothing to purge. */
export const noCdn: Cdn = {
  batch_max: 1000,
  purge: async () => new Map(),
  check: async () => ({ says: 'no CDN: TINTYPE_CDN is none' }),
};
