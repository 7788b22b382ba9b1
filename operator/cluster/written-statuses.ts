/**
 * What this process last wrote to each status: if something else is there, somebody else wrote it, and the resource is
 * reconciled again. The condition Routed has its own writer. Spec: Project (status).
 */
import { createHash } from 'node:crypto';
import { factsOf, ownConditions } from './status.ts';
import type { TenantObject, TenantStatus } from './tenant-object.ts';

export type WrittenStatuses = {
  record(object: TenantObject, status: TenantStatus): void;
  /** Also true for a resource whose status was never written. */
  isLastWritten(object: TenantObject): boolean;
  forget(object: TenantObject): void;
  clear(): void;
};

export function createWrittenStatuses(): WrittenStatuses {
  const writtenStatuses = new Map<string, string>();
  return {
    record: ({ metadata: { uid } }, status) => {
      writtenStatuses.set(uid, digestOf(status));
    },
    isLastWritten: ({ metadata: { uid }, status = {} }) => {
      const known = writtenStatuses.get(uid);
      return known === undefined || known === digestOf(status);
    },
    forget: ({ metadata: { uid } }) => {
      writtenStatuses.delete(uid);
    },
    clear: () => writtenStatuses.clear(),
  };
}

/** Sorted, as the API server returns fields in another order. */
function digestOf(status: TenantStatus): string {
  const conditions = ownConditions(status)
    .filter(({ type }) => type !== 'Routed')
    .map((each) => [
      ...[each.type, each.status, each.reason, each.message],
      ...[each.observedGeneration, each.lastTransitionTime],
    ]);
  const facts = Object.entries(factsOf({ status })).toSorted();
  const said = [status.observedGeneration, facts, conditions];
  return createHash('sha256').update(JSON.stringify(said)).digest('base64');
}
