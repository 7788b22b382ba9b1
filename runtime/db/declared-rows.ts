/**
 * Rows as a declared resource sees them: found by their owner, with everything needed to judge the declaration. Spec:
 * Project; Signing key; Watermark preset; Recipe.
 */
import type { Queryable } from './client.ts';

export type OwnerColumns = {
  owner_uid: string | null;
  owner_namespace: string | null;
  owner_name: string | null;
};

/** Includes the resource that declares the project with the domain. */
export type TakenDomainRow = OwnerColumns & { domain: string };

/** Which of these domains belong to other projects. */
export async function listTakenDomains(
  db: Queryable,
  { domains, project_id }: { domains: readonly string[]; project_id: string | null },
): Promise<TakenDomainRow[]> {
  return db.query<TakenDomainRow>(
    `select d.domain, p.owner_uid, p.owner_namespace, p.owner_name
     from project_domains d join projects p using (project_id)
     where d.domain = any($1::text[]) and d.project_id is distinct from $2 order by d.domain`,
    [domains, project_id],
  );
}

export type DeclaredSigningKeyRow = OwnerColumns & {
  kid: string;
  project_id: string;
  rotation_trigger: string | null;
  created_at: Date;
};

/** The active key of a project, or the one that a resource owns. */
export async function findDeclaredSigningKey(
  db: Queryable,
  by: { project_id: string } | { owner_uid: string },
): Promise<DeclaredSigningKeyRow | undefined> {
  const isProject = 'project_id' in by;
  const [row] = await db.query<DeclaredSigningKeyRow>(
    `select kid, project_id, rotation_trigger, created_at, owner_uid, owner_namespace, owner_name
     from signing_keys where status = 'active' and ${isProject ? 'project_id' : 'owner_uid'} = $1`,
    [isProject ? by.project_id : by.owner_uid],
  );
  return row;
}

/** The key that signed before the active one, and until when it verifies. */
export async function findPreviousSigningKey(
  db: Queryable,
  { project_id }: { project_id: string },
): Promise<{ kid: string; retire_after: Date } | undefined> {
  const [row] = await db.query<{ kid: string; retire_after: Date }>(
    `select kid, retire_after from signing_keys where project_id = $1 and status = 'retired'
     order by created_at desc, kid desc limit 1`,
    [project_id],
  );
  return row;
}

export type DeclaredWatermarkPresetRow = OwnerColumns & {
  watermark_preset_id: string;
  project_id: string;
  name: string;
  file_id: string;
  /** The file's current revision, which is the one drawn. */
  file_revision: number;
  x_offset: number;
  y_offset: number;
  opacity: number;
  is_default: boolean;
  /** Whether a Project in the preset's namespace owns the project. */
  is_project_owned: boolean;
};

const PRESETS = `select w.watermark_preset_id, w.project_id, w.name, w.file_id, w.x_offset, w.y_offset,
    w.opacity, w.owner_uid, w.owner_namespace, w.owner_name, f.revision as file_revision,
    p.default_watermark_preset_id is not distinct from w.watermark_preset_id as is_default,
    p.owner_uid is not null and p.owner_namespace is not distinct from w.owner_namespace
      as is_project_owned
  from watermark_presets w join projects p using (project_id) join files f on f.file_id = w.file_id`;

export async function findDeclaredWatermarkPreset(
  db: Queryable,
  { owner_uid }: { owner_uid: string },
): Promise<DeclaredWatermarkPresetRow | undefined> {
  const [row] = await db.query<DeclaredWatermarkPresetRow>(`${PRESETS} where w.owner_uid = $1`, [
    owner_uid,
  ]);
  return row;
}

export async function findDefaultWatermarkPreset(
  db: Queryable,
  project_id: string,
): Promise<DeclaredWatermarkPresetRow | undefined> {
  const [row] = await db.query<DeclaredWatermarkPresetRow>(
    `${PRESETS} where p.project_id = $1 and p.default_watermark_preset_id = w.watermark_preset_id`,
    [project_id],
  );
  return row;
}

/** The project's preset that a resource of this name declared, whatever its uid. */
export async function findNamesakeWatermarkPreset(
  db: Queryable,
  by: { project_id: string; owner_namespace: string; owner_name: string },
): Promise<DeclaredWatermarkPresetRow | undefined> {
  const [row] = await db.query<DeclaredWatermarkPresetRow>(
    `${PRESETS} where w.project_id = $1 and w.owner_namespace = $2 and w.owner_name = $3
     order by is_default desc, w.watermark_preset_id limit 1`,
    [by.project_id, by.owner_namespace, by.owner_name],
  );
  return row;
}

export type DeclaredRecipeRow = OwnerColumns & {
  recipe_id: string;
  project_id: string;
  name: string;
  transform_chain: string;
  schema_version: number;
};

const RECIPES = `select recipe_id, project_id, name, transform_chain, schema_version,
    owner_uid, owner_namespace, owner_name from recipes`;

export async function findDeclaredRecipe(
  db: Queryable,
  { owner_uid }: { owner_uid: string },
): Promise<DeclaredRecipeRow | undefined> {
  const [row] = await db.query<DeclaredRecipeRow>(`${RECIPES} where owner_uid = $1`, [owner_uid]);
  return row;
}

/** The project's recipe that a resource of this name declared, whatever its uid. */
export async function findNamesakeRecipe(
  db: Queryable,
  by: { project_id: string; owner_namespace: string; owner_name: string },
): Promise<DeclaredRecipeRow | undefined> {
  const [row] = await db.query<DeclaredRecipeRow>(
    `${RECIPES} where project_id = $1 and owner_namespace = $2 and owner_name = $3
     order by recipe_id limit 1`,
    [by.project_id, by.owner_namespace, by.owner_name],
  );
  return row;
}

export type OwnerRow = { kind: string; namespace: string; name: string; uid: string };

const OWNED = `(
    select 1 as place, 'Recipe' as kind, project_id, null as preset_id, owner_uid, owner_namespace, owner_name
    from recipes
    union all
    select 2, 'WatermarkPreset', project_id, watermark_preset_id, owner_uid, owner_namespace, owner_name
    from watermark_presets
    union all
    select 3, 'SigningKey', project_id, null, owner_uid, owner_namespace, owner_name
    from signing_keys where status = 'active'
    union all
    select 4, 'Project', project_id, null, owner_uid, owner_namespace, owner_name from projects
  ) as o`;

const OWNERS = `select kind, o.owner_namespace as namespace, o.owner_name as name, o.owner_uid as uid`;

/** Every resource of one namespace that owns a row, dependent ones first. */
export async function listOwners(
  db: Queryable,
  { namespace, uid_prefix }: { namespace: string; uid_prefix: string },
): Promise<OwnerRow[]> {
  return db.query<OwnerRow>(
    `${OWNERS} from ${OWNED} where owner_namespace = $1 and starts_with(owner_uid, $2)
     order by place, owner_name`,
    [namespace, uid_prefix],
  );
}

export type ClusterOwnerRow = OwnerRow & {
  /** The slug of the row itself, or of the project that it belongs to. */
  project_slug: string;
  /**
   * A default watermark whose project is not owned by a Project of its namespace: it stays even
   * without its resource.
   */
  is_kept: boolean;
};

/** The same for all namespaces, without resources that a folder declares. */
export async function listClusterOwners(
  db: Queryable,
  { folder_prefix }: { folder_prefix: string },
): Promise<ClusterOwnerRow[]> {
  return db.query<ClusterOwnerRow>(
    `${OWNERS}, p.project_slug, coalesce(p.default_watermark_preset_id = o.preset_id, false)
       and (p.owner_uid is null or p.owner_namespace <> o.owner_namespace) as is_kept
     from ${OWNED} join projects p using (project_id)
     where o.owner_uid is not null and not starts_with(o.owner_uid, $1)
     order by place, o.owner_namespace, o.owner_name`,
    [folder_prefix],
  );
}

/** Resources from before the newest leader's Lease, none of which has been seen in this cluster. */
export async function listOwnersElsewhere(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ owner_uid: string }>('select owner_uid from owners_elsewhere');
  return rows.map(({ owner_uid }) => owner_uid);
}

/** Whether the resource is one of them. */
export async function isOwnerElsewhere(
  db: Queryable,
  { owner_uid }: { owner_uid: string },
): Promise<boolean> {
  const rows = await db.query('select from owners_elsewhere where owner_uid = $1', [owner_uid]);
  return rows.length > 0;
}

/** Marks all current owners of rows as belonging to another cluster. */
export async function insertOwnersElsewhere(
  db: Queryable,
  { folder_prefix }: { folder_prefix: string },
): Promise<void> {
  await db.query(
    `insert into owners_elsewhere (owner_uid)
     select distinct owner_uid from ${OWNED}
     where owner_uid is not null and not starts_with(owner_uid, $1)
     on conflict do nothing`,
    [folder_prefix],
  );
}

export async function deleteOwnersElsewhere(
  db: Queryable,
  { uids }: { uids: readonly string[] },
): Promise<void> {
  await db.query('delete from owners_elsewhere where owner_uid = any($1::text[])', [uids]);
}
