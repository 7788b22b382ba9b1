/**
 * What objects became by our own writing. An admission policy or webhook that changes one on its way in changes it each
 * time: what differs then is no drift, and to write it again and again would be a quarrel without end. A policy that went
 * away tells nobody, so that it is tried again once in a while.
 */
import { explainDifferences } from '../image-service/find-difference.ts';
import { digest } from '../image-service/render/object.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { TimedClock } from '../kube/timed-clock.ts';

export type Became = {
  /** How it differs, where that is what it became when the same was written last, not too long ago. */
  find(written: object, live: KubeObject): readonly string[] | undefined;
  /** Answers how it differs. */
  note(written: object, live: KubeObject): readonly string[];
  /** It is to be gone. */
  forget(live: KubeObject): void;
};

const BELIEVED_MS = 60 * 60_000;

type Known = { print: string; until: number; paths: readonly string[] };

/** It forgets with its term: whoever leads next tries once. */
export function createBecame({ elapsed }: Pick<TimedClock, 'elapsed'>): Became {
  const known = new Map<string, Known>();
  return {
    find: (written, live) => {
      const { print: before, until = 0, paths } = known.get(uidOf(live)) ?? {};
      return before === print(live, written) && until > elapsed() ? paths : undefined;
    },
    note: (written, live) => {
      const paths = explainDifferences(written, live);
      const until = elapsed() + BELIEVED_MS;
      if (paths.length === 0) known.delete(uidOf(live));
      else known.set(uidOf(live), { print: print(live, written), until, paths });
      return paths;
    },
    forget: (live) => void known.delete(uidOf(live)),
  };
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

/** A write of which nothing came but a note of who wrote it. */
export function isAsBefore(before: KubeObject, after: KubeObject): boolean {
  return print(before) === print(after);
}

type Told = { apiVersion?: string; kind?: string; status?: unknown };

/** All that anybody may write of it: whatever else changes is looked at anew. */
function print(live: KubeObject & Told, written?: object): string {
  // A list names the kind once for all.
  const { apiVersion: _, kind: __, status: ___, metadata, ...said } = live;
  const { labels, annotations, ownerReferences } = metadata;
  return digest([written ?? null, labels, annotations, ownerReferences, said]);
}
