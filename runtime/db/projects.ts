// Table projects, with what every reader of a project needs: domains, active key, price and its organization's plan and
// quota. Spec: Project.
import type { ProjectStatus } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { prepared } from './prepared-statements.ts';

export type ProjectRow = {
  project_id: string;
  organization_id: string;
  project_slug: string;
  name: string;
  delivery_access: 'public' | 'protected';
  cors_allowed_origins: string[];
  resolution_presets: Record<string, string>;
  allowed_transform_chains: string[];
  warm_presets: string[];
  default_watermark_preset_id: string | null;
  /** Allowed origins of the default library, which apply to every library of the project. */
  library_origins: string[];
  raw_download_enabled: boolean;
  callback_url: string | null;
  callback_secret_sealed: Buffer | null;
  previous_callback_secret_sealed: Buffer | null;
  previous_callback_secret_until: Date | null;
  callback_rotation_trigger: string | null;
  status: ProjectStatus;
  suspended_by: 'owner' | 'staff' | null;
  /** Its resource's deletion suspended it, and nobody has set its state since. */
  suspended_by_deletion: boolean;
  storage_hard_limit_bytes: number | null;
  nudity_auto_block: boolean;
  file_count: number;
  storage_bytes: number;
  reserved_bytes: number;
  generation: number;
  version: number;
  owner_uid: string | null;
  owner_namespace: string | null;
  owner_name: string | null;
  owner_deletion_policy: 'suspend' | 'retain' | null;
  created_at: Date;
  updated_at: Date;
  custom_domains: string[];
  active_signing_kid: string | null;
  /** The last set multiplier, as a decimal. */
  pricing_multiplier: string;
  plan: string;
  quota_exceeded_at: Date | null;
};

/** The columns that readers of a project, aliased p, need; o is its organization. */
export const PROJECT_COLUMNS = `p.*, o.plan, o.quota_exceeded_at,
    array(select domain from project_domains d where d.project_id = p.project_id order by position) as custom_domains,
    (select kid from signing_keys k where k.project_id = p.project_id and k.status = 'active') as active_signing_kid,
    coalesce((select multiplier from project_pricing m where m.project_id = p.project_id
      order by effective_from desc limit 1), 1) as pricing_multiplier`;

const JOINED = `join organizations o on o.organization_id = p.organization_id`;
const SELECT = `select ${PROJECT_COLUMNS} from projects p ${JOINED}`;
/** For rows that a statement wrote and returned as p. */
const SELECT_WRITTEN = `select ${PROJECT_COLUMNS} from p ${JOINED}`;

const BY_ID = prepared(`${SELECT} where p.project_id = $1`);
const BY_SLUG = prepared(`${SELECT} where p.project_slug = $1`);
const BY_OWNER = prepared(`${SELECT} where p.owner_uid = $1`);
// One index per branch: with `or`, a plan made while there were few projects reads all.
const BY_OWNER_OR_SLUG = prepared(
  `select ${PROJECT_COLUMNS} from (select * from projects where owner_uid = $1
     union all select * from projects where project_slug = $2) p ${JOINED}`,
);

export async function findProject(
  db: Queryable,
  projectId: string,
): Promise<ProjectRow | undefined> {
  return (await db.query<ProjectRow>(BY_ID, [projectId]))[0];
}

export async function findProjectBySlug(
  db: Queryable,
  slug: string,
): Promise<ProjectRow | undefined> {
  return (await db.query<ProjectRow>(BY_SLUG, [slug]))[0];
}

/** By the custom resource that declares it. */
export async function findProjectByOwner(
  db: Queryable,
  ownerUid: string,
): Promise<ProjectRow | undefined> {
  return (await db.query<ProjectRow>(BY_OWNER, [ownerUid]))[0];
}

/** The project that the custom resource declares; otherwise the one with the slug. */
export async function findProjectByOwnerOrSlug(
  db: Queryable,
  { owner_uid, project_slug }: { owner_uid: string; project_slug: string },
): Promise<ProjectRow | undefined> {
  const rows = await db.query<ProjectRow>(BY_OWNER_OR_SLUG, [owner_uid, project_slug]);
  return rows.find((row) => row.owner_uid === owner_uid) ?? rows[0];
}

/** Newest first; of one organization, or all if null. */
export function listProjects(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { organization_id: string | null },
): Promise<Page<ProjectRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<ProjectRow, 'organization_id'> = {
  select: SELECT,
  conditions: { organization_id: (value) => `p.organization_id = ${value}` },
  order: ['p.created_at', 'p.project_id'],
  idOf: (row) => row.project_id,
};

const LOCK = prepared('select from projects where project_id = $1 for no key update');

/** Locks a project's row: settings, counters, keys and files change one transaction at a time. */
export async function lockProjectRow(tx: Transaction, projectId: string): Promise<void> {
  await tx.query(LOCK, [projectId]);
}

/** Locked until the transaction ends. */
export async function lockProject(
  tx: Transaction,
  projectId: string,
): Promise<ProjectRow | undefined> {
  // Lock first, read second: the subqueries then see what the previous holder committed.
  await lockProjectRow(tx, projectId);
  return findProject(tx, projectId);
}

export type NewProject = Pick<ProjectRow, 'project_id' | 'organization_id' | 'project_slug'> &
  ProjectChanges & { name: string };

/** Undefined if the slug is taken. */
export async function insertProject(
  db: Queryable,
  { project_id, organization_id, project_slug, ...settings }: NewProject,
): Promise<ProjectRow | undefined> {
  const { columns, values } = printChanges(settings);
  const names = ['project_id', 'organization_id', 'project_slug', ...columns];
  const inserted = await db.query<ProjectRow>(
    `with p as (
       insert into projects (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})
       on conflict (project_slug) do nothing returning *)
     ${SELECT_WRITTEN}`,
    [project_id, organization_id, project_slug, ...values],
  );
  return inserted[0];
}

/** The columns that a caller may set, as keys of the object. */
export type ProjectChanges = {
  [Column in (typeof CHANGEABLE)[number]]?: ProjectRow[Column] | undefined;
};

const CHANGEABLE = [
  'name',
  'delivery_access',
  'cors_allowed_origins',
  'resolution_presets',
  'allowed_transform_chains',
  'warm_presets',
  'default_watermark_preset_id',
  'library_origins',
  'raw_download_enabled',
  'callback_url',
  'callback_secret_sealed',
  'previous_callback_secret_sealed',
  'previous_callback_secret_until',
  'callback_rotation_trigger',
  'status',
  'suspended_by',
  'suspended_by_deletion',
  'storage_hard_limit_bytes',
  'nudity_auto_block',
  'owner_uid',
  'owner_namespace',
  'owner_name',
  'owner_deletion_policy',
] as const satisfies readonly (keyof ProjectRow)[];

export type ProjectUpdate = {
  project_id: string;
  changes: ProjectChanges;
};

/** Undefined if there is no such project. */
export async function updateProject(
  db: Queryable,
  { project_id, changes }: ProjectUpdate,
): Promise<ProjectRow | undefined> {
  const { columns, values } = printChanges(changes);
  const sets = columns.map((column, index) => `${column} = $${index + 2}, `).join('');
  const updated = await db.query<ProjectRow>(
    `with p as (
       update projects set ${sets}version = version + 1, updated_at = now()
       where project_id = $1 returning *)
     ${SELECT_WRITTEN}`,
    [project_id, ...values],
  );
  return updated[0];
}

/**
 * Forgets every derived image of the project: its cache keys begin with the generation. The
 * project's time stays, as none of its settings changed.
 */
export async function updateProjectGeneration(tx: Transaction, projectId: string): Promise<void> {
  await tx.query('update projects set generation = generation + 1 where project_id = $1', [
    projectId,
  ]);
}

function printChanges(changes: ProjectChanges): { columns: string[]; values: unknown[] } {
  const set = CHANGEABLE.filter((column) => changes[column] !== undefined);
  return {
    columns: [...set],
    values: set.map((column) =>
      column === 'resolution_presets' ? JSON.stringify(changes[column]) : changes[column],
    ),
  };
}

/**
 * The organization's projects with a callback URL, locked until the transaction ends: they receive
 * its quota events. Always locks in the same order, behind the organization's lock; nobody locks
 * the two in reverse.
 */
export async function lockCallbackProjects(
  tx: Transaction,
  organizationId: string,
): Promise<string[]> {
  const rows = await tx.query<{ project_id: string }>(
    `select project_id from projects
     where organization_id = $1 and callback_url is not null order by project_id for share`,
    [organizationId],
  );
  return rows.map((row) => row.project_id);
}
