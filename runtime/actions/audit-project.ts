/**
 * What the audit log keeps of a change to a project: the settings that changed, as they were and as they are. Of a
 * callback URL only the origin is kept, since the rest of it may be a secret. Spec: Project.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectRow } from '../db/projects.ts';

export type ProjectDeed = 'project.create' | 'project.update' | 'project.delete';

/** Writes nothing where nothing changed; `before` is undefined for a project that is new. */
export async function auditProject(
  tx: Transaction,
  deed: { action: ProjectDeed; actor: Actor; before?: ProjectRow; after: ProjectRow },
): Promise<void> {
  const { action, actor, before, after } = deed;
  const { project_id, organization_id, project_slug } = after;
  const [then, now] = [before && settingsOf(before), settingsOf(after)];
  const changed = Object.keys(now).filter((name) => !isDeepStrictEqual(then?.[name], now[name]));
  const isRotated = isNewSecret(before, after);
  if (changed.length === 0 && !isRotated) return;
  await insertAuditEntry(tx, {
    ...actor,
    organization_id,
    project_id,
    action,
    target: project_slug,
    before: then && pick(then, changed),
    after: { ...pick(now, changed), ...(isRotated ? { callback_secret: 'new' } : {}) },
  });
}

type Settings = Readonly<Record<string, unknown>>;

function settingsOf(row: ProjectRow): Settings {
  return {
    name: row.name,
    delivery_access: row.delivery_access,
    cors_allowed_origins: row.cors_allowed_origins,
    resolution_presets: row.resolution_presets,
    allowed_transform_chains: row.allowed_transform_chains,
    default_watermark_preset_id: row.default_watermark_preset_id,
    raw_download_enabled: row.raw_download_enabled,
    callback_origin: row.callback_url === null ? null : new URL(row.callback_url).origin,
    status: row.status,
    suspended_by: row.suspended_by,
    suspended_by_deletion: row.suspended_by_deletion,
    custom_domains: row.custom_domains,
    nudity_auto_block: row.nudity_auto_block,
    storage_hard_limit_bytes: row.storage_hard_limit_bytes,
    pricing_multiplier: Number(row.pricing_multiplier),
  };
}

function isNewSecret(before: ProjectRow | undefined, after: ProjectRow): boolean {
  const [old, current] = [before?.callback_secret_sealed, after.callback_secret_sealed];
  return current !== null && (old == null || !current.equals(old));
}

function pick(settings: Settings, names: readonly string[]): Settings {
  return Object.fromEntries(names.map((name) => [name, settings[name]]));
}
