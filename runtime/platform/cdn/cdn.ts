/**
 * What the service needs from a CDN: that it forgets. Spec: Caching and response headers.
 */

export type Cdn = {
  /** How many purges at most are given to it at a time. */
  readonly batch_max: number;
  /** In as few calls as its API allows. Answers which ones it did not take, and why: they are to be tried again. */
  purge<Purge extends CdnPurge>(
    purges: readonly Purge[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Purge, CdnRefusal>>;
  /** Tries address and credentials without forgetting anything; throws a CdnRefusal where they are wrong. */
  check(signal: AbortSignal): Promise<CdnHealth>;
};

export type CdnPurge = {
  project_id: string;
  project_slug: string;
  custom_domains: readonly string[];
  /** Null: everything of the project. */
  file_slug: string | null;
  /** The tag of the file's images; null where it is not known, and then everything of the project is forgotten. */
  file_id: string | null;
};

/** `advice` where something could not be tried. */
export type CdnHealth = { says: string; advice?: string };

export type RefusalFacts = {
  says: string;
  advice: string;
  /** What it concerns: this call alone, or every other one as well, so that none is sent for now. */
  concerns: 'call' | 'all';
  /** As the CDN asked. */
  retry_after_seconds?: number | undefined;
};

/** Why a CDN did not take something, and what to do. */
export class CdnRefusal extends Error {
  readonly facts: RefusalFacts;

  constructor(facts: RefusalFacts, options?: { cause: unknown }) {
    super(`${facts.says}: ${facts.advice}`, options);
    this.name = 'CdnRefusal';
    this.facts = facts;
  }
}

/** Where there is no CDN, there is nothing to forget. */
export const noCdn: Cdn = {
  batch_max: 1000,
  purge: async () => new Map(),
  check: async () => ({ says: 'no CDN: TINTYPE_CDN is none' }),
};
