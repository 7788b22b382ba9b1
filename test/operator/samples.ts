// Rows and resources that the decide tests start from; each test states only what differs.
import type { Identity } from '../../operator/declared.ts';
import type { DeclaredProject, ProjectRows } from '../../operator/project/gather.ts';
import { projectSpec } from '../../operator/project/schema.ts';
import type { RecipeRows } from '../../operator/recipe/gather.ts';
import { recipeSpec } from '../../operator/recipe/schema.ts';
import type { SigningKeyRows } from '../../operator/signing-key/gather.ts';
import { signingKeySpec } from '../../operator/signing-key/schema.ts';
import type { WatermarkPresetRows } from '../../operator/watermark-preset/gather.ts';
import { watermarkPresetSpec } from '../../operator/watermark-preset/schema.ts';
import type {
  DeclaredRecipeRow,
  DeclaredSigningKeyRow,
  DeclaredWatermarkPresetRow,
} from '../../runtime/db/declared-rows.ts';

export const now = new Date('2026-11-20T10:30:00.000Z');

export function identity(kind: string, name = 'shop'): Identity {
  return { kind, namespace: 'team', name, uid: `uid-${name}` };
}

const mine = { owner_uid: 'uid-shop', owner_namespace: 'team', owner_name: 'shop' };
export const nobody = { owner_uid: null, owner_namespace: null, owner_name: null };
export const somebody = { owner_uid: 'uid-x', owner_namespace: 'team', owner_name: 'x' };
export const released = { ...mine, owner_uid: null };

export function projectRow(fields: Partial<DeclaredProject> = {}): DeclaredProject {
  return {
    project_id: 'prj_1',
    organization_id: 'org_1',
    project_slug: 'shop',
    name: 'shop',
    delivery_access: 'public',
    cors_allowed_origins: [],
    resolution_presets: {},
    allowed_transform_chains: [],
    warm_presets: [],
    default_watermark_preset_id: null,
    raw_download_enabled: false,
    callback_url: null,
    callback_rotation_trigger: null,
    status: 'active',
    suspended_by: null,
    suspended_by_deletion: false,
    storage_hard_limit_bytes: null,
    nudity_auto_block: false,
    ...mine,
    owner_deletion_policy: 'suspend',
    custom_domains: [],
    pricing_multiplier: '1',
    active_signing_kid: 'kid_1',
    ...fields,
  };
}

export function projectRows(fields: Partial<ProjectRows> = {}): ProjectRows {
  return {
    project: projectRow(),
    organization_id: 'org_1',
    default_watermark_preset_id: undefined,
    is_default_watermark_orphaned: false,
    domains_taken: [],
    domains_awaited: [],
    delivery_root_domain: 'images.example',
    read_at: now,
    newest_price: undefined,
    ...fields,
  };
}

export function project(spec: object = {}, name = 'shop') {
  return {
    action: 'declare' as const,
    identity: identity('Project', name),
    spec: projectSpec.parse(spec),
  };
}

export function keyRow(fields: Partial<DeclaredSigningKeyRow> = {}): DeclaredSigningKeyRow {
  return {
    kid: 'kid_1',
    project_id: 'prj_1',
    rotation_trigger: '1',
    created_at: new Date('2026-11-01T00:00:00.000Z'),
    ...mine,
    ...fields,
  };
}

export function keyRows(fields: Partial<SigningKeyRows> = {}): SigningKeyRows {
  const verifying = { count: 1, seconds: 1 };
  const rows = { project: { project_id: 'prj_1' }, key: keyRow(), owned: keyRow() };
  return { ...rows, has_predecessor: false, verifying, ...fields };
}

const projectRef = { name: 'shop' };

export function signingKey(spec: object = {}) {
  return {
    action: 'declare' as const,
    identity: identity('SigningKey'),
    spec: signingKeySpec.parse({ projectRef, rotationTrigger: '1', ...spec }),
  };
}

export function presetRow(
  fields: Partial<DeclaredWatermarkPresetRow> = {},
): DeclaredWatermarkPresetRow {
  return {
    watermark_preset_id: 'wm_1',
    project_id: 'prj_1',
    name: 'shop',
    file_id: 'file_1',
    file_revision: 1,
    x_offset: 0,
    y_offset: 0,
    opacity: 100,
    is_default: false,
    is_project_owned: true,
    ...mine,
    ...fields,
  };
}

export function presetRows(fields: Partial<WatermarkPresetRows> = {}): WatermarkPresetRows {
  return {
    project: { project_id: 'prj_1' },
    preset: presetRow(),
    naming: { renamings: [] },
    is_full: false,
    file: { file_id: 'file_1', status: 'ready' },
    ...fields,
  };
}

export function watermarkPreset(spec: object = {}) {
  return {
    action: 'declare' as const,
    identity: identity('WatermarkPreset'),
    spec: watermarkPresetSpec.parse({ projectRef, fileSlug: 'logo.png', ...spec }),
  };
}

export function recipeRow(fields: Partial<DeclaredRecipeRow> = {}): DeclaredRecipeRow {
  return {
    ...mine,
    recipe_id: 'rcp_1',
    project_id: 'prj_1',
    name: 'shop',
    transform_chain: 'quality/80',
    schema_version: 1,
    ...fields,
  };
}

export function recipeRows(fields: Partial<RecipeRows> = {}): RecipeRows {
  return {
    project: { project_id: 'prj_1' },
    recipe: recipeRow(),
    naming: { renamings: [] },
    is_full: false,
    ...fields,
  };
}

export function recipe(spec: object = {}) {
  return {
    action: 'declare' as const,
    identity: identity('Recipe'),
    spec: recipeSpec.parse({ projectRef, transformChain: 'quality/80', ...spec }),
  };
}

/** The resource no longer exists, and its last spec is unknown. */
export function gone(kind: string) {
  return { action: 'delete' as const, identity: identity(kind), spec: undefined };
}
