/**
 * Converts the fields of a Project resource to the columns of a project, and finds the differences. Spec: Resources and
 * their fields, Project. An undeclared field is left alone.
 */
import { defined } from '../defined.ts';
import { parseBytes } from '../quantity.ts';
import type { ProjectSpec } from './schema.ts';

/** The columns of a project that a resource can declare. */
export type ProjectSettings = {
  name: string;
  delivery_access: 'public' | 'protected';
  cors_allowed_origins: string[];
  resolution_presets: Record<string, string>;
  allowed_transform_chains: string[];
  warm_presets: string[];
  default_watermark_preset_id: string | null;
  raw_download_enabled: boolean;
  status: 'active' | 'suspended';
  suspended_by: 'owner' | 'staff' | null;
  suspended_by_deletion: boolean;
  storage_hard_limit_bytes: number | null;
  nudity_auto_block: boolean;
};

/** What follows from the spec alone; the default watermark and the state also depend on rows. */
export function declaredSettings(spec: ProjectSpec): Partial<ProjectSettings> {
  return defined({
    name: spec.displayName,
    delivery_access: given(spec.deliveryAccess, { Public: 'public', Protected: 'protected' }),
    cors_allowed_origins: spec.corsAllowedOrigins,
    resolution_presets: spec.resolutionPresets && presetsByName(spec.resolutionPresets),
    allowed_transform_chains: spec.allowedTransformChains,
    warm_presets: spec.warmPresets,
    raw_download_enabled: given(spec.rawDownload, { Enabled: true, Disabled: false }),
    storage_hard_limit_bytes: limitOf(spec.staff?.storageHardLimit),
    nudity_auto_block: given(spec.staff?.nudityAutoBlock, { Enabled: true, Disabled: false }),
  });
}

/** The declared settings that the row does not have yet. */
export function differences(
  wanted: Partial<ProjectSettings>,
  row: ProjectSettings,
): Partial<ProjectSettings> {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => !isSame(value, row[field as keyof ProjectSettings]),
    ),
  );
}

/** An empty text means the plan's limit. */
function limitOf(amount: string | undefined): number | null | undefined {
  if (amount === undefined) return undefined;
  return amount === '' ? null : parseBytes(amount);
}

function presetsByName(
  presets: readonly { name: string; chain: string }[],
): Record<string, string> {
  return Object.fromEntries(presets.map(({ name, chain }) => [name, chain]));
}

function given<Word extends string, Value>(
  word: Word | undefined,
  values: Record<Word, Value>,
): Value | undefined {
  return word === undefined ? undefined : values[word];
}

// Presets are a map, so their order is irrelevant. Lists of origins and chains are compared in
// order.
function isSame(left: unknown, right: unknown): boolean {
  return print(left) === print(right);
}

function print(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
