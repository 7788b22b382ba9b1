/** A project: its library's settings, host and counters. Spec: Project; Projects; Staff. */
import { z } from 'zod';
import {
  ALLOWED_TRANSFORM_CHAINS_MAX,
  CORS_ALLOWED_ORIGINS_MAX,
  CUSTOM_DOMAINS_MAX,
  HOSTNAME_LENGTH_MAX,
  URL_LENGTH_MAX,
} from '../limits.ts';
import { parseMultiplier } from '../metering.ts';
import { parseProjectSlug } from '../slug.ts';
import { projectStatuses } from '../states.ts';
import { resolutionPresets, transformChain } from './chain.ts';
import {
  HOSTNAME_PATTERN,
  parseCallbackUrl,
  parseCorsOrigin,
  parseHostname,
} from './web-address.ts';
import {
  expected,
  isRecordValue,
  listOf,
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
  /** Only in the response that first sets callback_url or rotates the secret. */
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

/** Fields of create that only staff may send: otherwise 403 staff_only_field. */
export const staffFieldsOfCreate = ['organization_id'] as const;

/** Fields of an owner's change that only staff may send: otherwise 403 staff_only_field. */
export const staffFieldsOfPatch = ['storage_hard_limit_bytes', 'pricing_multiplier'] as const;

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

/** Query of staff's list of projects, across organizations. */
export const listStaffProjectsQuery = requestQuery({
  organization_id: plainText('the id of an organization').optional(),
  ...pageQuery,
});

const SLUG =
  'a DNS label: lower-case letters, digits and inner hyphens, at most 63, not a reserved word';
const projectSlug = z
  .string({ error: expected(SLUG) })
  .meta({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$' })
  .transform((text, context) => parsed(context, parseProjectSlug(text), SLUG));

const CORS_ORIGIN = 'an origin such as https://shop.example, or *';
const corsOrigin = z
  .string({ error: expected(CORS_ORIGIN) })
  .meta({ pattern: '^(https?://[^/?#]+|[*])$' })
  .transform((text, context) => parsed(context, parseCorsOrigin(text), CORS_ORIGIN));

const watermarkPresetId = plainText('the id of a watermark preset, or null').nullable();

const settings = {
  name: nameText().optional(),
  delivery_access: oneOf(['public', 'protected']).optional(),
  cors_allowed_origins: listOf(
    corsOrigin,
    `a list of at most ${CORS_ALLOWED_ORIGINS_MAX} origins`,
    {
      max: CORS_ALLOWED_ORIGINS_MAX,
    },
  ).optional(),
  resolution_presets: resolutionPresets.optional(),
  allowed_transform_chains: listOf(
    transformChain,
    `a list of at most ${ALLOWED_TRANSFORM_CHAINS_MAX} transform chains`,
    { max: ALLOWED_TRANSFORM_CHAINS_MAX },
  ).optional(),
};

/** Create. 'slug' is the deprecated alias of project_slug. */
export const createProjectBody = requestBody({
  project_slug: projectSlug.optional(),
  slug: projectSlug.optional(),
  organization_id: plainText('the id of an organization').optional(),
  ...settings,
})
  .refine((body) => 'project_slug' in body || 'slug' in body, {
    path: ['project_slug'],
    error: `required: ${SLUG}`,
    when: isRecordValue,
  })
  .refine(isNamedOnce('slug', 'project_slug'), {
    path: ['slug'],
    error: 'slug is the old name of project_slug; send only one of them',
    when: isRecordValue,
  })
  .transform(({ slug = '', project_slug = slug, ...rest }) => ({ project_slug, ...rest }));

/** The requested project, with the alias resolved. */
export type CreateProject = z.infer<typeof createProjectBody>;

const MULTIPLIER = 'a number from 0 to 1000 with at most 6 decimals';
const staffSettings = {
  status: oneOf(projectStatuses).optional(),
  storage_hard_limit_bytes: wholeNumber({ min: 0 }, ', or null').nullable().optional(),
  pricing_multiplier: z
    .number({ error: expected(MULTIPLIER) })
    .meta({ minimum: 0, maximum: 1000 })
    .transform((value, context) => parsed(context, parseMultiplier(value), MULTIPLIER))
    .optional(),
};

const CALLBACK_URL = `an https URL of at most ${URL_LENGTH_MAX} characters, its host in ASCII (xn--… for other scripts), without user name or fragment, or null`;

/** Change by an owner. project_default_watermark is a deprecated alias; '' clears. */
export const patchProjectBody = requestBody({
  ...settings,
  default_watermark_preset_id: watermarkPresetId.optional(),
  project_default_watermark: watermarkPresetId.optional(),
  raw_download_enabled: trueOrFalse.optional(),
  callback_url: z
    .string({ error: expected(CALLBACK_URL) })
    .meta({
      pattern: '^https://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]*)?([/?][^\\s#@\\\\]*)?$',
      maxLength: URL_LENGTH_MAX,
    })
    .transform((text, context) => parsed(context, parseCallbackUrl(text), CALLBACK_URL))
    .nullable()
    .optional(),
  rotate_callback_secret: trueOrFalse.optional(),
  ...staffSettings,
})
  .refine(isNamedOnce('project_default_watermark', 'default_watermark_preset_id'), {
    path: ['project_default_watermark'],
    error:
      'project_default_watermark is the old name of default_watermark_preset_id; send only one of them',
    when: isRecordValue,
  })
  .transform(({ project_default_watermark, ...rest }) =>
    project_default_watermark === undefined
      ? rest
      : { ...rest, default_watermark_preset_id: project_default_watermark || null },
  );

/** The change that an owner requests, with the alias resolved. */
export type PatchProject = z.infer<typeof patchProjectBody>;

const HOSTNAME = 'a host name such as img.shop.example';
const hostname = z
  .string({ error: expected(HOSTNAME) })
  .meta({ pattern: HOSTNAME_PATTERN.source, maxLength: HOSTNAME_LENGTH_MAX })
  .transform((text, context) => parsed(context, parseHostname(text), HOSTNAME));

/** Change by staff. */
export const patchStaffProjectBody = requestBody({
  custom_domains: listOf(hostname, `a list of at most ${CUSTOM_DOMAINS_MAX} host names`, {
    max: CUSTOM_DOMAINS_MAX,
  }).optional(),
  nudity_auto_block: trueOrFalse.optional(),
  ...staffSettings,
});

/** The change that staff request. */
export type PatchStaffProject = z.infer<typeof patchStaffProjectBody>;

/**
 * A field and its deprecated alias may both be sent if they have the same value; '' is null. Spec:
 * Versioning.
 */
function isNamedOnce(old: string, name: string) {
  return (body: object): boolean => {
    const sent = new Map<string, unknown>(Object.entries(body));
    const [first, second] = [sent.get(old), sent.get(name)];
    return first === undefined || second === undefined || (first || null) === second;
  };
}
