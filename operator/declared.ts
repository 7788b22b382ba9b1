/**
 * What a reconciler is handed: a declared resource, or the fact that one is gone. It comes from a
 * cluster's API server or from a folder of YAML; a reconciler cannot tell which.
 */

export type Identity = {
  kind: string;
  namespace: string;
  name: string;
  /** Stable for as long as the resource exists; rows carry it as their owner. */
  uid: string;
};

/** A resource as it is declared, or one that was deleted, with its last spec where that is known. */
export type Subject<Spec> =
  | { action: 'declare'; identity: Identity; spec: Spec }
  | { action: 'delete'; identity: Identity; spec: Spec | undefined };

/** Resolves a reference by name, inside one namespace, to the owner that its rows carry. */
export type FindUid = (kind: string, name: string) => string | undefined;

/** What a resource of the namespace declares now; undefined where it is gone, or asks to be left alone. */
export type FindDeclared = (
  kind: string,
  name: string,
) => { uid: string; spec: unknown } | undefined;

export type Owner = Omit<Identity, 'kind'>;

/**
 * Of this very resource, of whatever namespace. `isGoing`: it lets go of its row as soon as it may, not where it is to be
 * left alone. `isGone`: it surely is, and nobody saw it go.
 */
export type Leaving = Record<'isGoing' | 'isGone', (kind: string, resource: Owner) => boolean>;

/** How a resource finds others, by their names in its namespace. */
export type Finding = Leaving & { findUid: FindUid; findDeclared: FindDeclared };
