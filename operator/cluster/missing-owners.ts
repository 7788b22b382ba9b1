/**
 * Resources that own rows and that no cache has: gone by the word of the API server, which is asked once a pass and
 * outside of its transaction. Of namespaces that this operator does not watch nothing is said. Spec: Watermark preset.
 */
import type { Owner } from '../declared.ts';
import { KubeFailure } from '../kube/kube-failure.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import type { TenantKind } from './tenant-object.ts';

export type MissingOwners = {
  /** It is asked for next. */
  note(kind: TenantKind, owner: Owner): void;
  /** As far as was asked. */
  isGone(owner: Owner): boolean;
  /** Answers whether one more is known to be gone now. */
  ask(): Promise<boolean>;
};

export function createMissingOwners({
  watches,
  findObjectNow,
}: Pick<ObjectContext, 'watches' | 'findObjectNow'>): MissingOwners {
  const gone = new Set<string>();
  const open = new Map<string, { kind: TenantKind; owner: Owner }>();
  const isMissingNow = async (kind: TenantKind, owner: Owner) => {
    try {
      // A namesake may be about to take the row up.
      return (await findObjectNow(kind, owner)) === undefined;
    } catch (error) {
      // What was decided without the answer is true, and is to be said.
      if (error instanceof KubeFailure) return false;
      throw error;
    }
  };
  return {
    note: (kind, owner) => {
      if (watches(owner.namespace)) open.set(owner.uid, { kind, owner });
    },
    isGone: ({ uid }) => gone.has(uid),
    ask: async () => {
      const before = gone.size;
      for (const [uid, { kind, owner }] of open) {
        if (await isMissingNow(kind, owner)) gone.add(uid);
      }
      return gone.size > before;
    },
  };
}
