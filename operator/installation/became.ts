/**
 * What objects became by our own writing. An admission policy or webhook that changes one on its way in changes it each
 * time: what differs then is no drift, and to write it again and again would be a quarrel without end.
 */
import { findDifference } from '../image-service/find-difference.ts';
import { digest, type RenderedObject } from '../image-service/render/object.ts';
import type { KubeObject } from '../kube/resource.ts';

export type Became = {
  /** Whether it is still what it became when the same was written last. */
  isSo(written: RenderedObject, live: KubeObject): boolean;
  note(written: RenderedObject, live: KubeObject): void;
};

/** It forgets with its term: whoever leads next tries once. */
export function createBecame(): Became {
  const known = new Map<string, string>();
  return {
    isSo: (written, live) => known.get(uidOf(live)) === print(written, live),
    note: (written, live) => {
      if (findDifference(written, live) === undefined) known.delete(uidOf(live));
      else known.set(uidOf(live), print(written, live));
    },
  };
}

function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? '';
}

type Told = { apiVersion?: string; kind?: string; status?: unknown };

/** All that anybody may write of it: whatever else changes is looked at anew. */
function print(written: RenderedObject, live: KubeObject & Told): string {
  // A list names the kind once for all.
  const { apiVersion: _, kind: __, status: ___, metadata, ...said } = live;
  const { labels, annotations, ownerReferences } = metadata;
  return digest([written, labels, annotations, ownerReferences, said]);
}
