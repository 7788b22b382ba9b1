/**
 * Resources that own rows and are in no cache: the API server decides whether they are gone. It is asked once per pass,
 * outside the transaction. Namespaces that this operator does not watch are left out. Spec: Watermark preset.
 */
import type { Owner } from '../declared.ts';
import { KubeFailure } from '../kube/kube-failure.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import type { TenantKind } from './tenant-object.ts';

export type MissingOwners = {
  /** The next `ask` includes this owner. */
  note(kind: TenantKind, owner: Owner): void;
  /** As of the last `ask`. */
  isGone(owner: Owner): boolean;
  /** Returns whether it found another owner to be gone. */
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
      // Any resource of that name counts, as it may be about to take the row back.
      return (await findObjectNow(kind, owner)) === undefined;
    } catch (error) {
      // The pass's result is true without this answer, and must still be reported.
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
