/**
 * How the cluster mutates objects on admission. A policy or webhook that changes an object does so at each write: such
 * a difference is no drift, and writing it repeatedly would never end. Nothing announces that a policy was
 * removed, so the write is retried once in a while.
 */
import { HOUR_MS } from '../../runtime/core/durations.ts';
import { explainDifferences } from '../image-service/find-difference.ts';
import { digest } from '../image-service/render/object.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { TimedClock } from '../kube/timed-clock.ts';

export type AdmissionMutations = {
  /**
   * How the object differs, if it became exactly this when the same was last written, not too long
   * ago.
   */
  find(written: object, live: KubeObject): readonly string[] | undefined;
  /** Returns how it differs. */
  record(written: object, live: KubeObject): readonly string[];
};

const RETRY_MS = HOUR_MS;

type Known = { print: string; until: number; paths: readonly string[] };

/** The record ends with its term: the next leader tries once. */
export function createAdmissionMutations({
  elapsed,
}: Pick<TimedClock, 'elapsed'>): AdmissionMutations {
  // By uid, the oldest first.
  const known = new Map<string, Known>();
  const forgetOld = () => {
    for (const [uid, { until }] of known) {
      if (until > elapsed()) return;
      known.delete(uid);
    }
  };
  return {
    find: (written, live) => {
      forgetOld();
      const { print: before, paths } = known.get(live.metadata.uid) ?? {};
      return before === print(live, written) ? paths : undefined;
    },
    record: (written, live) => {
      const paths = explainDifferences(written, live);
      const until = elapsed() + RETRY_MS;
      known.delete(live.metadata.uid);
      if (paths.length > 0)
        known.set(live.metadata.uid, { print: print(live, written), until, paths });
      return paths;
    },
  };
}

/** Whether a write changed nothing except the record of its writer. */
export function hasSameContent(before: KubeObject, after: KubeObject): boolean {
  return print(before) === print(after);
}

type TypeAndStatus = { apiVersion?: string; kind?: string; status?: unknown };

/** Everything in it that anybody may write: any other change leads to a new try. */
function print(live: KubeObject & TypeAndStatus, written?: object): string {
  // Items of a list lack the kind, which the list states once.
  const { apiVersion: _, kind: __, status: ___, metadata, ...said } = live;
  const { labels, annotations, ownerReferences } = metadata;
  return digest([written ?? null, labels, annotations, ownerReferences, said]);
}
