/**
 * Whose a row is, seen from one resource. A row carries the resource that declares it; a resource
 * that was deleted and came back under its old name takes its row up again.
 */
import type { Identity } from './declared.ts';

/** The owner columns of a row. The uid is null where the resource was deleted and let the row go. */
export type OwnedRow = {
  owner_uid: string | null;
  owner_namespace: string | null;
  owner_name: string | null;
};

/**
 * - `mine`: this resource owns it. `returning`: its namesake did, before it was deleted.
 * - `unowned`: nobody does, it was made through the API. `other`: another resource owns it.
 */
export type Claim = 'mine' | 'returning' | 'unowned' | 'other';

export function claimOn(row: OwnedRow, identity: Identity): Claim {
  if (row.owner_uid === identity.uid) return 'mine';
  // Two resources of one kind cannot have one name, so the owner of that name is gone.
  const isNamesake = row.owner_namespace === identity.namespace && row.owner_name === identity.name;
  if (isNamesake) return 'returning';
  return row.owner_uid === null ? 'unowned' : 'other';
}

/** The owner columns that a row of this resource carries. */
export function ownerColumns(identity: Identity) {
  return {
    owner_uid: identity.uid,
    owner_namespace: identity.namespace,
    owner_name: identity.name,
  };
}
