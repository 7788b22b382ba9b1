/** What a status tells of the rows that a resource owns. Spec: Project; Signing key; Watermark preset; Recipe. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  findDeclaredRecipe,
  findDeclaredSigningKey,
  findDeclaredWatermarkPreset,
} from '../../runtime/db/declared-rows.ts';
import { findProjectByOwner } from '../../runtime/db/projects.ts';
import type { Verdict } from './status.ts';
import type { TenantKind } from './tenant-object.ts';

type Owned = { owner_uid: string; delivery_root_domain: string | undefined };

export function readFacts(
  db: Queryable,
  kind: TenantKind,
  owned: Owned,
): Promise<Verdict['facts']> {
  return readers[kind](db, owned);
}

type Reader = (db: Queryable, owned: Owned) => Promise<Verdict['facts']>;

const readers: Readonly<Record<TenantKind, Reader>> = {
  Project: readProject,
  SigningKey: async (db, { owner_uid }) => {
    return { kid: (await findDeclaredSigningKey(db, { owner_uid }))?.kid };
  },
  WatermarkPreset: async (db, owned) => {
    return { presetID: (await findDeclaredWatermarkPreset(db, owned))?.watermark_preset_id };
  },
  Recipe: async (db, owned) => ({ recipeID: (await findDeclaredRecipe(db, owned))?.recipe_id }),
};

async function readProject(db: Queryable, { owner_uid, delivery_root_domain }: Owned) {
  const project = await findProjectByOwner(db, owner_uid);
  if (project === undefined) return {};
  return {
    projectID: project.project_id,
    organizationID: project.organization_id,
    defaultHost: delivery_root_domain && `${project.project_slug}.${delivery_root_domain}`,
    activeKid: project.active_signing_kid ?? undefined,
    suspendedBy: project.suspended_by ?? undefined,
    storageLimitSource: project.storage_hard_limit_bytes === null ? 'plan' : 'staff',
  };
}
