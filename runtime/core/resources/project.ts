/** A project: its library's settings, host and counters. Spec: Project; Projects; Staff. */
import { z } from 'zod';
import {
  ALLOWED_TRANSFORM_CHAINS_MAX,
  CORS_ALLOWED_ORIGINS_MAX,
  CUSTOM_DOMAINS_MAX,
} from '../limits.ts';
import { parseMultiplier } from '../metering.ts';
import { parseProjectSlug } from '../slug.ts';
import { projectStatuses } from '../states.ts';
import { resolutionPresets, transformChain } from './chain.ts';
import { parseCallbackUrl, parseCorsOrigin, parseHostname } from './web-address.ts';
import {
  expected,
  nameText,
  oneOf,
  pageQuery,
  parsed,
  plainText,
  requestBody,
  requestQuery,
  times,
  trueOrFalse,
  wholeNumber,
} from './wire.ts';

/** A project as its owner sees it. */
export const projectRecord = z.object({
  project_slug: z.string(),
  project_id: z.string(),
  organization_id: z.string(),
  name: z.string(),
  delivery_access: z.enum(['public', 'protected']),
  default_delivery_host: z.string(),
  custom_domains: z.array(z.string()),
  cors_allowed_origins: z.array(z.string()),
  resolution_presets: z.record(z.string(), z.string()),
  allowed_transform_chains: z.array(z.string()),
  default_watermark_preset_id: z.string().nullable(),
  raw_download_enabled: z.boolean(),
  callback_url: z.string().nullable(),
  callback_secret_set: z.boolean(),
  /** Only in the answer that first sets callback_url or rotates the secret. */
  callback_secret: z.string().optional(),
  status: z.enum(projectStatuses),
  suspended_by: z.enum(['owner', 'staff']).nullable(),
  storage_hard_limit_bytes: z.int().nullable(),
  storage_limit_source: z.enum(['plan', 'staff']),
  file_count: z.int(),
  storage_bytes: z.int(),
  active_signing_kid: z.string().nullable(),
  pricing_multiplier: z.number(),
  ...times,
});

/** A project on the wire. */
export type ProjectRecord = z.infer<typeof projectRecord>;

/** A project as staff see it. */
export const staffProjectRecord = projectRecord.extend({ nudity_auto_block: z.boolean() });

/** A project on the wire, for staff. */
export type StaffProjectRecord = z.infer<typeof staffProjectRecord>;

/** Fields of the owner's bodies that only staff may set: 403 staff_only_field otherwise. */
export const staffOnlyFields = [
  'organization_id',
  'storage_hard_limit_bytes',
  'pricing_multiplier',
] as const;

/** Changes to these purge the project's cached images. Spec: Project. */
export const purgingFields = [
  'delivery_access',
  'status',
  'resolution_presets',
  'allowed_transform_chains',
  'default_watermark_preset_id',
  'raw_download_enabled',
] as const;

/** Query of the list of projects. */
export const listProjectsQuery = requestQuery(pageQuery);

const SLUG =
  'a DNS label: lower-case letters, digits and inner hyphens, at most 63, not a reserved word';
const projectSlug = z
  .string({ error: expected(SLUG) })
  .meta({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$' })
  .transform((text, context) => parsed(context, parseProjectSlug(text), SLUG));

const corsOrigin = z
  .string({ error: expected('a list of origins') })
  .meta({ pattern: '^(https?://[^/?#]+|[*])$' })
  .transform((text, context) =>
    parsed(context, parseCorsOrigin(text), 'an origin such as https://shop.example, or *'),
  );

const watermarkPresetId = plainText('the id of a watermark preset, or null').nullable();

const settings = {
  name: nameText().optional(),
  delivery_access: oneOf(['public', 'protected']).optional(),
  cors_allowed_origins: listOf(corsOrigin, CORS_ALLOWED_ORIGINS_MAX).optional(),
  resolution_presets: resolutionPresets.optional(),
  allowed_transform_chains: listOf(transformChain, ALLOWED_TRANSFORM_CHAINS_MAX).optional(),
};

/** Create. 'slug' is the deprecated alias of project_slug. */
export const createProjectBody = requestBody({
  project_slug: projectSlug.optional(),
  slug: projectSlug.optional(),
  organization_id: plainText('the id of an organization').optional(),
  ...settings,
}).transform(({ slug, project_slug = slug, ...rest }, context) => {
  if (project_slug === undefined) return missingSlug(context);
  if (slug !== undefined && slug !== project_slug) return twoSlugs(context);
  return { project_slug, ...rest };
});

/** What create asks for, the alias resolved. */
export type CreateProject = z.infer<typeof createProjectBody>;

const staffSettings = {
  status: oneOf(projectStatuses).optional(),
  storage_hard_limit_bytes: wholeNumber(0).nullable().optional(),
  pricing_multiplier: z
    .number({ error: expected('a number') })
    .meta({ minimum: 0, maximum: 1000 })
    .transform((value, context) =>
      parsed(context, parseMultiplier(value), 'a number from 0 to 1000 with at most 6 decimals'),
    )
    .optional(),
};

/** Change by an owner. project_default_watermark is a deprecated alias; '' clears. */
export const patchProjectBody = requestBody({
  ...settings,
  default_watermark_preset_id: watermarkPresetId.optional(),
  project_default_watermark: watermarkPresetId.optional(),
  raw_download_enabled: trueOrFalse.optional(),
  callback_url: z
    .string({ error: expected('an https URL, or null') })
    .meta({ pattern: '^https://' })
    .transform((text, context) =>
      parsed(context, parseCallbackUrl(text), 'an https URL without user name or fragment'),
    )
    .nullable()
    .optional(),
  rotate_callback_secret: trueOrFalse.optional(),
  ...staffSettings,
}).transform(({ project_default_watermark, ...rest }, context) => {
  if (project_default_watermark === undefined) return rest;
  const aliased = project_default_watermark || null;
  const { default_watermark_preset_id = aliased } = rest;
  if (default_watermark_preset_id !== aliased) return twoWatermarks(context);
  return { ...rest, default_watermark_preset_id };
});

/** What an owner's change asks for, the alias resolved. */
export type PatchProject = z.infer<typeof patchProjectBody>;

const hostname = z
  .string({ error: expected('a list of host names') })
  .transform((text, context) =>
    parsed(context, parseHostname(text), 'a host name such as img.shop.example'),
  );

/** Change by staff. */
export const patchStaffProjectBody = requestBody({
  custom_domains: listOf(hostname, CUSTOM_DOMAINS_MAX).optional(),
  nudity_auto_block: trueOrFalse.optional(),
  ...staffSettings,
});

/** What a change by staff asks for. */
export type PatchStaffProject = z.infer<typeof patchStaffProjectBody>;

function listOf<Item extends z.ZodType>(item: Item, max: number) {
  const error = expected(`a list of at most ${max} entries`);
  return z
    .array(item, { error })
    .max(max, { error })
    .transform((items) => [...new Set(items)]);
}

function missingSlug(context: z.core.$RefinementCtx): never {
  context.issues.push({
    code: 'custom',
    path: ['project_slug'],
    message: `required: ${SLUG}`,
    input: context.value,
  });
  return z.NEVER;
}

function twoSlugs(context: z.core.$RefinementCtx): never {
  return twoNames(context, { old: 'slug', name: 'project_slug' });
}

function twoWatermarks(context: z.core.$RefinementCtx): never {
  const name = 'default_watermark_preset_id';
  return twoNames(context, { old: 'project_default_watermark', name });
}

/** A field and its deprecated alias that say different things. Spec: Versioning. */
function twoNames(
  context: z.core.$RefinementCtx,
  { old, name }: { old: string; name: string },
): never {
  context.issues.push({
    code: 'custom',
    path: [old],
    message: `${old} is the old name of ${name}; send only one of them`,
    input: context.value,
  });
  return z.NEVER;
}
