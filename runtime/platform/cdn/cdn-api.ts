/**
 * What differs between CDNs: the form of their calls, the meaning of their answers, and their rate limits. What they
 * share (turns, pauses, deadlines) is in rate-limited-cdn.ts. Spec: Caching and response headers.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { CdnHealth, CdnPurge, CdnRefusal } from './cdn.ts';
import type { RateLimit } from './rate-limiter.ts';

export type CdnApi = {
  readonly batch_max: number;
  readonly rate: RateLimit;
  /** The calls that together purge everything named. */
  callsFor<Purge extends CdnPurge>(purges: readonly Purge[]): CdnCall<Purge>[];
  send(request: CdnRequest, signal: AbortSignal): Promise<CdnAnswer>;
  /** What the CDN did not accept according to its answer; undefined: it accepted everything. */
  judge(answer: CdnAnswer, targets: readonly string[]): CdnVerdict | undefined;
  check(signal: AbortSignal): Promise<CdnHealth>;
};

export type CdnVerdict = {
  refusal: CdnRefusal;
  /** The targets that were refused. */
  targets: readonly string[];
};

/**
 * Calls of one lane run one after the other; a refusal that concerns all calls stops only its lane.
 */
export type CdnCall<Purge> = {
  lane: string;
  request: CdnRequest;
  targets: readonly PurgeTarget<Purge>[];
};

/** A tag or a host, and the purges that are done once the CDN has dropped it. */
export type PurgeTarget<Purge> = { name: string; purges: readonly Purge[] };

export type CdnRequest = {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
};

export type CdnAnswer = { status: number; headers: IncomingHttpHeaders; text: string };
