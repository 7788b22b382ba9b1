/**
 * What differs from CDN to CDN: how its calls look, what its answers mean, and how fast it may be called. What they
 * have in common (turns, pauses, deadlines) stands in paced-cdn.ts. Spec: Caching and response headers.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { CdnHealth, CdnPurge, CdnRefusal } from './cdn.ts';
import type { Pace } from './pace.ts';

export type CdnApi = {
  readonly batch_max: number;
  readonly pace: Pace;
  /** The calls that together forget everything named. */
  callsFor<Purge extends CdnPurge>(purges: readonly Purge[]): CdnCall<Purge>[];
  send(request: CdnRequest, signal: AbortSignal): Promise<CdnAnswer>;
  /** What the answer says that the CDN did not take; undefined: all of it was taken. */
  judge(answer: CdnAnswer, targets: readonly string[]): CdnVerdict | undefined;
  check(signal: AbortSignal): Promise<CdnHealth>;
};

export type CdnVerdict = {
  refusal: CdnRefusal;
  /** Which of the targets. */
  targets: readonly string[];
};

/** Calls of one lane go one after the other; a refusal that concerns all stops its lane alone. */
export type CdnCall<Purge> = {
  lane: string;
  request: CdnRequest;
  targets: readonly Target<Purge>[];
};

/** A tag or a host, and the purges that are done when it is forgotten. */
export type Target<Purge> = { name: string; purges: readonly Purge[] };

export type CdnRequest = {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
};

export type CdnAnswer = { status: number; headers: IncomingHttpHeaders; text: string };
