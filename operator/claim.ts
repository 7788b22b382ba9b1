/**
 * Who owns a row, from the point of view of one resource. A row names the resource that declares it. A resource that
 * was deleted and created again under its old name takes its row back.
 */
import type { Identity } from './declared.ts';

/**
 * The owner columns of a row. The uid is null after the resource was deleted and released the row.
 */
export type OwnedRow = {
  owner_uid: string | null;
  owner_namespace: string | null;
  owner_name: string | null;
};

/**
 * - `mine`: this resource owns it. `returning`: a resource of the same name did, before its
 * deletion.
 * - `unowned`: nobody does, as it was made through the API. `other`: another resource owns it.
 */
export type Claim = 'mine' | 'returning' | 'unowned' | 'other';

export function claimOn(row: OwnedRow, identity: Identity): Claim {
  if (row.owner_uid === identity.uid) return 'mine';
  // Two resources of one kind cannot share a name, so the owner with that name is gone.
  const isNamesake = row.owner_namespace === identity.namespace && row.owner_name === identity.name;
  if (isNamesake) return 'returning';
  return row.owner_uid === null ? 'unowned' : 'other';
}

/** The owner columns of a row that this resource owns. */
export function ownerColumns(identity: Identity) {
  return {
    owner_uid: identity.uid,
    owner_namespace: identity.namespace,
    owner_name: identity.name,
  };
}
