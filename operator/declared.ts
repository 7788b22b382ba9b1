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

/** Whether this very resource goes, and lets go of its row as soon as it may; not where it is to be left alone. */
export type IsGoing = (kind: string, resource: { name: string; uid: string }) => boolean;

/** How a resource finds others of its namespace. */
export type Finding = { findUid: FindUid; findDeclared: FindDeclared; isGoing: IsGoing };
