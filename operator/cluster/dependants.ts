/**
 * The resources of a namespace that refer to a project, indexed beside the caches so that no pass has to scan all of
 * them.
 */
import { keyOf } from '../kube/resource.ts';
import type { TenantChange } from './object-caches.ts';
import type { TenantKind, TenantObject } from './tenant-object.ts';

export type Referrer = { kind: TenantKind; key: string };

export type Dependants = {
  handleChange(kind: TenantKind, change: TenantChange): void;
  /** The resources to reconcile after the rows of this one changed. */
  of(kind: TenantKind, object: TenantObject): Referrer[];
};

export function createDependants(): Dependants {
  const byProject = new Map<string, Map<string, Referrer>>();
  const remove = (kind: TenantKind, key: string, project: string) => {
    const referrers = byProject.get(project);
    referrers?.delete(`${kind} ${key}`);
    if (referrers?.size === 0) byProject.delete(project);
  };
  return {
    handleChange: (kind, { key, object, previous }) => {
      const before = previous && projectKey(previous);
      const now = object && projectKey(object);
      if (before !== undefined && before !== now) remove(kind, key, before);
      if (now === undefined) return;
      const referrers = byProject.get(now) ?? new Map<string, Referrer>();
      byProject.set(now, referrers.set(`${kind} ${key}`, { kind, key }));
    },
    of: (kind, object) => {
      if (kind === 'Project') return [...(byProject.get(keyOf(object.metadata))?.values() ?? [])];
      const project = projectKey(object);
      const isTold = kind === 'WatermarkPreset' || kind === 'SigningKey';
      return isTold && project ? [{ kind: 'Project', key: project }] : [];
    },
  };
}

function projectKey({ metadata: { namespace }, spec }: TenantObject): string | undefined {
  return spec?.projectRef && keyOf({ namespace, name: spec.projectRef.name });
}
