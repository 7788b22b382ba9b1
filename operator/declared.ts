/**
 * The input of a reconciler: a declared resource, or the fact that one was deleted. It comes from a cluster's API
 * server or from a folder of YAML; a reconciler cannot tell which.
 */

export type Identity = {
  kind: string;
  namespace: string;
  name: string;
  /** Stable for as long as the resource exists; rows name it as their owner. */
  uid: string;
};

/** A declared resource, or a deleted one, with its last spec where that is known. */
export type Subject<Spec> =
  | { action: 'declare'; identity: Identity; spec: Spec }
  | { action: 'delete'; identity: Identity; spec: Spec | undefined };

/** Resolves a name in the same namespace to the uid that rows name as their owner. */
export type FindUid = (kind: string, name: string) => string | undefined;

/**
 * The current spec of a resource in the namespace; undefined if it is gone, or asks to be left
 * alone.
 */
export type FindDeclared = (
  kind: string,
  name: string,
) => { uid: string; spec: unknown } | undefined;

export type Owner = Omit<Identity, 'kind'>;

/**
 * About this exact resource, in any namespace. `isBeingDeleted`: it releases its row as soon as it
 * can, unless it is to be left alone. `isGone`: it certainly is gone, and nobody saw its deletion.
 */
export type DeletionChecks = Record<
  'isBeingDeleted' | 'isGone',
  (kind: string, resource: Owner) => boolean
>;

/** How a resource finds others, by name in its namespace. */
export type ResourceLookup = DeletionChecks & { findUid: FindUid; findDeclared: FindDeclared };
