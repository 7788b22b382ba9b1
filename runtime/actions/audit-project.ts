/**
 * The audit entry of a change to a project: the changed settings with their old and new values. A callback URL may hold
 * a secret, so only its origin is recorded, and that its path is new. Spec: Project.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import type { ProjectRow } from '../db/projects.ts';

export type ProjectAction = 'project.create' | 'project.update' | 'project.delete';

/** Writes nothing if nothing changed; `before` is undefined for a new project. */
export async function auditProject(
  tx: Transaction,
  change: { action: ProjectAction; actor: Actor; before?: ProjectRow; after: ProjectRow },
): Promise<void> {
  const { action, actor, before, after } = change;
  const { project_id, organization_id, project_slug } = after;
  const [previous, now] = [before && settingsOf(before), settingsOf(after)];
  const changed = Object.keys(now).filter(
    (name) => !isDeepStrictEqual(previous?.[name], now[name]),
  );
  const secretChanges = { ...newSecret(before, after), ...newPath(before, after) };
  if (changed.length === 0 && Object.keys(secretChanges).length === 0) return;
  await insertAuditEntry(tx, {
    ...actor,
    organization_id,
    project_id,
    action,
    target: project_slug,
    before: previous && pick(previous, changed),
    after: { ...pick(now, changed), ...secretChanges },
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
    callback_origin: originOf(row.callback_url),
    status: row.status,
    suspended_by: row.suspended_by,
    suspended_by_deletion: row.suspended_by_deletion,
    custom_domains: row.custom_domains,
    nudity_auto_block: row.nudity_auto_block,
    storage_hard_limit_bytes: row.storage_hard_limit_bytes,
    pricing_multiplier: Number(row.pricing_multiplier),
  };
}

function originOf(url: string | null): string | null {
  return url === null ? null : new URL(url).origin;
}

function newSecret(before: ProjectRow | undefined, after: ProjectRow): Settings {
  const [old, current] = [before?.callback_secret_sealed, after.callback_secret_sealed];
  const isNew = current !== null && (old == null || !current.equals(old));
  return isNew ? { callback_secret: 'new' } : {};
}

/** Records that the rest of the URL changed while its origin did not. */
function newPath(before: ProjectRow | undefined, { callback_url: current }: ProjectRow): Settings {
  const old = before?.callback_url ?? null;
  const isNew = old !== current && originOf(old) === originOf(current);
  return isNew ? { callback_path: 'new' } : {};
}

function pick(settings: Settings, names: readonly string[]): Settings {
  return Object.fromEntries(names.map((name) => [name, settings[name]]));
}
