/** What has to be read to judge a Project resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredProjectRow,
  findDeclaredProject,
  findDeclaredWatermarkPreset,
  listTakenDomains,
} from '../../runtime/db/declared-rows.ts';
import { findOrganization } from '../../runtime/db/organizations.ts';
import type { Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import type { ProjectSpec } from './schema.ts';

export type ProjectRows = {
  /** The project that the resource owns; else the one that has its slug. */
  project: DeclaredProjectRow | undefined;
  /** Where the project belongs; undefined where the resource names one that does not exist. */
  organization_id: string | undefined;
  /** The preset that the resource names as default; undefined where it names none that is there. */
  default_watermark_preset_id: string | undefined;
  /** The default watermark was declared, and its resource is gone. */
  is_default_watermark_orphaned: boolean;
  /** Declared domains that other projects have. */
  domains_taken: readonly string[];
  delivery_root_domain: string | undefined;
};

export async function gatherProject(
  db: Queryable,
  subject: Subject<ProjectSpec>,
  scope: Scope,
): Promise<ProjectRows> {
  const { identity, spec } = subject;
  const project_slug = subject.action === 'declare' ? (spec?.slug ?? identity.name) : null;
  const project = await findDeclaredProject(db, { owner_uid: identity.uid, project_slug });
  const project_id = project?.project_id ?? null;
  const domains = spec?.staff?.customDomains ?? [];
  return {
    project,
    organization_id: await findOwner(db, spec, scope),
    default_watermark_preset_id: await findDefault(db, subject, { project_id, scope }),
    is_default_watermark_orphaned: isOrphaned(project, subject, scope),
    domains_taken: domains.length === 0 ? [] : await listTakenDomains(db, { domains, project_id }),
    delivery_root_domain: scope.delivery_root_domain,
  };
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

function isOrphaned(
  project: DeclaredProjectRow | undefined,
  { identity }: Subject<ProjectSpec>,
  scope: Scope,
): boolean {
  const name = project?.default_watermark_owner_name ?? undefined;
  if (name === undefined) return false;
  if (project?.default_watermark_owner_namespace !== identity.namespace) return false;
  return scope.findUid('WatermarkPreset', name) === undefined;
}
