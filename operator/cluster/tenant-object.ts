/** A live resource of a tenant kind, and its form as a reconciler receives it. Spec: Resources and their fields. */
import type { Condition } from '../conditions.ts';
import type { Subject } from '../declared.ts';
import { API_VERSION, kinds } from '../kinds.ts';
import type { LiveCondition } from '../kube/live-condition.ts';
import { type KubeObject, type ResourceType, resourceType } from '../kube/resource.ts';

export type TenantKind = (typeof kinds)[number]['kind'];

export type TenantObject = KubeObject & { spec?: TenantSpec; status?: TenantStatus };

export type TenantStatus = {
  observedGeneration?: number;
  conditions?: LiveCondition<Condition>[];
  [field: string]: unknown;
};

/** The fields that are read before a pass: how resources refer to one another, and the slug. */
type TenantSpec = {
  slug?: string;
  projectRef?: { name: string };
  defaultWatermarkPresetRef?: { name: string };
  image?: { configMapRef?: { name: string }; secretRef?: { name: string } };
  [field: string]: unknown;
};

export const FINALIZER = 'tintype.dev/rows';

export const tenantTypes: readonly (ResourceType<TenantObject> & { kind: TenantKind })[] =
  kinds.map(({ kind, plural }) => {
    const names = { apiVersion: API_VERSION, kind, plural } as const;
    return { ...resourceType<TenantObject>(names), kind };
  });

export function tenantKindOf(kind: string): TenantKind | undefined {
  return tenantTypes.find((each) => each.kind === kind)?.kind;
}

export function typeOf(kind: TenantKind): ResourceType<TenantObject> {
  const type = tenantTypes.find((each) => each.kind === kind);
  if (type === undefined) throw new Error(`no type of ${kind}`);
  return type;
}

export function subjectOf(kind: TenantKind, { metadata, spec }: TenantObject): Subject<unknown> {
  const { namespace = '', name, uid } = metadata;
  const identity = { kind, namespace, name, uid };
  if (metadata.deletionTimestamp === undefined)
    return { action: 'declare', identity, spec: spec ?? {} };
  return { action: 'delete', identity, spec: lastSpec(kind, spec) };
}

/**
 * The rows alone say what to release. Only what happens to a project depends on its last spec, if
 * that was seen.
 */
function lastSpec(kind: TenantKind, spec: TenantSpec | undefined): unknown {
  const project = kinds.find((each) => each.kind === 'Project');
  const isKnown = kind === 'Project' && spec !== undefined && project?.spec.safeParse(spec).success;
  return isKnown ? spec : undefined;
}

/** The slug that a Project declares. */
export function declaredSlug({ metadata, spec }: TenantObject): string {
  return spec?.slug ?? metadata.name;
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}
