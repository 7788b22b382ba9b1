/** Tenant resources of all kinds that share a name in one namespace: their paths and their state. */
import type { TenantKind } from '../../operator/cluster/tenant-object.ts';
import { kubeApply, kubeRequest, type PlaneAddress } from './kube-request.ts';

export type Place = { namespace: string; name: string };

const plurals = {
  ...{ Project: 'projects', SigningKey: 'signingkeys' },
  ...{ WatermarkPreset: 'watermarkpresets', Recipe: 'recipes' },
} as const satisfies Record<TenantKind, string>;

export function pathOf(kind: TenantKind, { namespace, name }: Place): string {
  return `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}/${name}`;
}

export async function declareAt(
  plane: PlaneAddress,
  { namespace, name }: Place,
  specs: Partial<Record<TenantKind, object>>,
): Promise<void> {
  for (const [kind, spec] of Object.entries(specs) as [TenantKind, object][]) {
    const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { namespace, name } };
    await kubeApply(plane, pathOf(kind, { namespace, name }), { ...head, spec });
  }
}

/** Returns the object's finalizers and conditions, or `gone`. */
export async function liveAt(
  plane: PlaneAddress,
  kind: TenantKind,
  place: Place,
): Promise<unknown> {
  const { status, body } = await kubeRequest(plane, { path: pathOf(kind, place) });
  if (status === 404) return 'gone';
  const { metadata, status: said } = body as {
    metadata: { finalizers?: string[] };
    status: { conditions: { type: string; status: string; reason: string }[] };
  };
  const conditions = said.conditions.map((each) => `${each.type} ${each.status} ${each.reason}`);
  return { finalizers: metadata.finalizers, conditions };
}
