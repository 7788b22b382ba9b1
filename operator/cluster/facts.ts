/** What a status reports about the rows that a resource owns. Spec: Project; Signing key; Watermark preset; Recipe. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  findDeclaredRecipe,
  findDeclaredSigningKey,
  findDeclaredWatermarkPreset,
  findPreviousSigningKey,
} from '../../runtime/db/declared-rows.ts';
import { findProjectByOwner, type ProjectRow } from '../../runtime/db/projects.ts';
import { printTime } from '../kube/live-condition.ts';
import type { Verdict } from './status.ts';
import type { TenantKind } from './tenant-object.ts';

type Owned = { owner_uid: string; delivery_root_domain: string | undefined };

export type OwnedRows = {
  facts: Verdict['facts'];
  /** For a Project resource only. */
  project?: ProjectRow;
};

export function readOwned(db: Queryable, kind: TenantKind, owned: Owned): Promise<OwnedRows> {
  return readers[kind](db, owned);
}

type Reader = (db: Queryable, owned: Owned) => Promise<OwnedRows>;

const readers: Readonly<Record<TenantKind, Reader>> = {
  Project: readProject,
  SigningKey: readSigningKey,
  WatermarkPreset: async (db, owned) => {
    const preset = await findDeclaredWatermarkPreset(db, owned);
    return {
      facts: { presetID: preset?.watermark_preset_id, fileRevision: preset?.file_revision },
    };
  },
  Recipe: async (db, owned) => {
    return { facts: { recipeID: (await findDeclaredRecipe(db, owned))?.recipe_id } };
  },
};

async function readProject(
  db: Queryable,
  { owner_uid, delivery_root_domain }: Owned,
): Promise<OwnedRows> {
  const project = await findProjectByOwner(db, owner_uid);
  if (project === undefined) return { facts: {} };
  const facts = {
    projectID: project.project_id,
    organizationID: project.organization_id,
    defaultHost: delivery_root_domain && `${project.project_slug}.${delivery_root_domain}`,
    activeKid: project.active_signing_kid ?? undefined,
    suspendedBy: project.suspended_by ?? undefined,
    storageLimitSource: project.storage_hard_limit_bytes === null ? 'plan' : 'staff',
  };
  return { facts, project };
}

async function readSigningKey(db: Queryable, { owner_uid }: Owned): Promise<OwnedRows> {
  const key = await findDeclaredSigningKey(db, { owner_uid });
  const previous = key && (await findPreviousSigningKey(db, key));
  const facts = {
    kid: key?.kid,
    previousKid: previous?.kid,
    previousRetireTime: previous && printTime(previous.retire_after),
  };
  return { facts };
}
