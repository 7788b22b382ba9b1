/** A project's row as the API answers it. Spec: Project. */
import { planStorageBytes } from '../../core/plans.ts';
import type { ProjectRecord, StaffProjectRecord } from '../../core/resources/project.ts';
import type { ProjectRow } from '../../db/projects.ts';
import type { ApiDeps } from '../deps.ts';

/** Fields that change without a change of settings, or that are answered only once. */
export const projectVolatileFields = [
  'file_count',
  'storage_bytes',
  'active_signing_kid',
  'callback_secret',
];

export function presentProject(
  row: ProjectRow,
  { settings, plans }: Pick<ApiDeps, 'settings' | 'plans'>,
): ProjectRecord {
  return {
    project_slug: row.project_slug,
    project_id: row.project_id,
    organization_id: row.organization_id,
    name: row.name,
    delivery_access: row.delivery_access,
    default_delivery_host: `${row.project_slug}.${settings.deliveryRootDomain}`,
    custom_domains: row.custom_domains,
    cors_allowed_origins: row.cors_allowed_origins,
    resolution_presets: row.resolution_presets,
    allowed_transform_chains: row.allowed_transform_chains,
    default_watermark_preset_id: row.default_watermark_preset_id,
    raw_download_enabled: row.raw_download_enabled,
    callback_url: row.callback_url,
    callback_secret_set: row.callback_secret_sealed !== null,
    status: row.status,
    suspended_by: row.suspended_by,
    storage_hard_limit_bytes: row.storage_hard_limit_bytes ?? planStorageBytes(plans, row.plan),
    storage_limit_source: row.storage_hard_limit_bytes === null ? 'plan' : 'staff',
    file_count: row.file_count,
    storage_bytes: row.storage_bytes,
    active_signing_kid: row.active_signing_kid,
    pricing_multiplier: Number(row.pricing_multiplier),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The record with the fields that only staff see. */
export function presentStaffProject(
  row: ProjectRow,
  deps: Pick<ApiDeps, 'settings' | 'plans'>,
): StaffProjectRecord {
  return { ...presentProject(row, deps), nudity_auto_block: row.nudity_auto_block };
}
