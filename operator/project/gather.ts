/** Reads what is needed to judge a Project resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import { findDatabaseTime } from '../../runtime/db/database-time.ts';
import { findDeclaredWatermarkPreset, isOwnerElsewhere } from '../../runtime/db/declared-rows.ts';
import { findOrganization } from '../../runtime/db/organizations.ts';
import { listPricing, type PricingRow } from '../../runtime/db/project-pricing.ts';
import {
  findProjectByOwner,
  findProjectByOwnerOrSlug,
  type ProjectRow,
} from '../../runtime/db/projects.ts';
import { findWatermarkPreset } from '../../runtime/db/watermark-presets.ts';
import type { Identity, Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import { type DomainRows, findDomains } from './domains.ts';
import type { ProjectSpec } from './schema.ts';
import type { ProjectSettings } from './settings.ts';

/** The judged columns of a project. */
export type DeclaredProject = ProjectSettings &
  Pick<
    ProjectRow,
    | 'project_id'
    | 'organization_id'
    | 'project_slug'
    | 'callback_url'
    | 'callback_rotation_trigger'
    | 'custom_domains'
    | 'pricing_multiplier'
    | 'active_signing_kid'
    | 'owner_uid'
    | 'owner_namespace'
    | 'owner_name'
    | 'owner_deletion_policy'
  >;

export type ProjectRows = DomainRows & {
  /** The project that the resource owns; otherwise the one with its slug. */
  project: DeclaredProject | undefined;
  /**
   * The organization that the project belongs to; undefined if the resource names one that does not
   * exist.
   */
  organization_id: string | undefined;
  /**
   * The preset that the resource names as default; undefined if it names none, or one that does not
   * exist.
   */
  default_watermark_preset_id: string | undefined;
  /** The default watermark was declared, and its resource is gone. */
  is_default_watermark_orphaned: boolean;
  delivery_root_domain: string | undefined;
  callback_egress?: Scope['callback_egress'];
  /** The time of the reads, by the database's clock: needed if a price is declared. */
  read_at: Date | undefined;
  /** The price that was set last, for the same reason. */
  newest_price: PricingRow | undefined;
};

export async function gatherProject(
  db: Queryable,
  subject: Subject<ProjectSpec>,
  scope: Scope,
): Promise<ProjectRows> {
  const { identity, spec } = subject;
  const project = await findProjectOf(db, subject);
  const project_id = project?.project_id ?? null;
  const isPriced = spec?.staff?.pricingMultiplier !== undefined;
  return {
    project,
    organization_id: await findOwner(db, spec, scope),
    default_watermark_preset_id: await findDefault(db, subject, { project_id, scope }),
    is_default_watermark_orphaned: await isOrphaned(db, { project, identity, scope }),
    ...(await findDomains(db, subject, { project_id, scope })),
    delivery_root_domain: scope.delivery_root_domain,
    callback_egress: scope.callback_egress,
    read_at: isPriced ? await findDatabaseTime(db) : undefined,
    newest_price: isPriced && project ? await findNewestPrice(db, project) : undefined,
  };
}

function findProjectOf(
  db: Queryable,
  { action, identity, spec }: Subject<ProjectSpec>,
): Promise<DeclaredProject | undefined> {
  const { uid: owner_uid, name } = identity;
  if (action === 'delete') return findProjectByOwner(db, owner_uid);
  return findProjectByOwnerOrSlug(db, { owner_uid, project_slug: spec.slug ?? name });
}

async function findOwner(
  db: Queryable,
  spec: ProjectSpec | undefined,
  scope: Scope,
): Promise<string | undefined> {
  const declared = spec?.staff?.organizationId;
  if (declared === undefined) return scope.organization_id;
  return (await findOrganization(db, declared))?.organization_id;
}

async function findNewestPrice(
  db: Queryable,
  { project_id }: DeclaredProject,
): Promise<PricingRow | undefined> {
  return (await listPricing(db, [project_id])).at(-1);
}

type Place = { project_id: string | null; scope: Scope };

async function findDefault(
  db: Queryable,
  { spec }: Subject<ProjectSpec>,
  { project_id, scope }: Place,
): Promise<string | undefined> {
  const name = spec?.defaultWatermarkPresetRef?.name;
  const owner_uid = name === undefined ? undefined : scope.findUid('WatermarkPreset', name);
  if (owner_uid === undefined) return undefined;
  const preset = await findDeclaredWatermarkPreset(db, { owner_uid });
  return preset?.project_id === project_id ? preset?.watermark_preset_id : undefined;
}

type Default = { project: DeclaredProject | undefined; identity: Identity; scope: Scope };

async function isOrphaned(db: Queryable, { project, identity, scope }: Default): Promise<boolean> {
  const watermark_preset_id = project?.default_watermark_preset_id ?? undefined;
  if (project === undefined || watermark_preset_id === undefined) return false;
  const { project_id } = project;
  const preset = await findWatermarkPreset(db, { project_id, watermark_preset_id });
  if (preset?.owner_name == null || preset.owner_namespace !== identity.namespace) return false;
  if (scope.findUid('WatermarkPreset', preset.owner_name) !== undefined) return false;
  // The resource may still exist in another cluster, and be declared here next.
  const { owner_uid } = preset;
  return owner_uid === null || !(await isOwnerElsewhere(db, { owner_uid }));
}
