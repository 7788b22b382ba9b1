/**
 * The Project resource, as people declare it. Spec: Resources and their fields, Project. An unset field keeps the value
 * from the API.
 */
import { z } from 'zod';
import {
  ALLOWED_TRANSFORM_CHAINS_MAX,
  CORS_ALLOWED_ORIGINS_MAX,
  CUSTOM_DOMAINS_MAX,
  HOSTNAME_LENGTH_MAX,
  PRICING_MULTIPLIER_DECIMALS_MAX,
  PRICING_MULTIPLIER_MAX,
  RESOLUTION_PRESET_NAME_PATTERN,
  RESOLUTION_PRESETS_MAX,
} from '../../runtime/core/limits.ts';
import { bytes } from '../amount-field.ts';
import {
  checked,
  choice,
  displayName,
  distinct,
  group,
  matching,
  namedAtomic,
  objectNameOrNone,
  presetChain,
  projectSlug,
  text,
  transformChain,
} from '../fields.ts';
import { allocated, statusFields } from '../status-fields.ts';
import { callback, origin } from './schema-addresses.ts';

const presetName = text('a name: lower case letters, digits, ".", "_" and "-", at most 64', {
  max: 64,
  pattern: RESOLUTION_PRESET_NAME_PATTERN,
});

const preset = group('{ name, chain }', {
  name: presetName.describe('The name that URLs use, as preset:<name>.'),
  chain: presetChain.describe('The transform chain that the name stands for.'),
});

const hostname = text('a host name such as img.shop.example', {
  max: HOSTNAME_LENGTH_MAX,
  pattern: /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
});

const watermarkRef = group('{ name: <name of a WatermarkPreset, or empty> }', {
  name: objectNameOrNone('the name of a WatermarkPreset').describe(
    'Name of the WatermarkPreset, in the same namespace; empty: no watermark, even if the API set one.',
  ),
});

const routing = group('{ perProject, probe }', {
  perProject: choice(['CustomDomainsOnly', 'Always'])
    .describe(
      'Which hosts of the project get routing rules of their own beside the wildcard: its custom domains (CustomDomainsOnly, the default), or its default host as well (Always).',
    )
    .optional(),
  probe: choice(['Disabled', 'Enabled'])
    .describe(
      'Whether the condition Routed waits until the delivery hosts answer; default Disabled.',
    )
    .optional(),
});

const multiplierExpected = `a number in quotes such as "1.5": 0 to ${PRICING_MULTIPLIER_MAX}, at most ${PRICING_MULTIPLIER_DECIMALS_MAX} decimals`;
const MULTIPLIER = /^[0-9]{1,4}(\.[0-9]{1,6})?$/;
const pricingMultiplier = text(multiplierExpected, { max: 12, pattern: MULTIPLIER })
  .refine((multiplier) => Number(multiplier) <= PRICING_MULTIPLIER_MAX, {
    error: multiplierExpected,
  })
  .meta(
    checked(
      `${matching(MULTIPLIER)} && double(self) <= ${PRICING_MULTIPLIER_MAX}.0`,
      multiplierExpected,
    ),
  );

const staff = group('the fields that only staff may set', {
  customDomains: distinct(hostname, {
    expected: 'a list of at most 32 host names',
    max: CUSTOM_DOMAINS_MAX,
  })
    .describe('Additional hosts that serve the project.')
    .optional(),
  storageHardLimit: bytes(
    'empty for that of the plan, or an amount of storage such as 500Mi or 1Gi',
    {
      min: 0,
      pattern: /^[0-9]{1,16}(Ki|Mi|Gi|Ti|k|M|G|T)?$/,
    },
  )
    .describe(
      'The most that the project may store, overriding its plan; empty: the limit of its plan.',
    )
    .optional(),
  pricingMultiplier: pricingMultiplier
    .describe(
      'The factor by which each credit of the project is multiplied, from the next full hour on: "0" to "1000", in quotes; 1 until it is set.',
    )
    .optional(),
  nudityAutoBlock: choice(['Enabled', 'Disabled'])
    .describe('Whether the scanner may block files by itself.')
    .optional(),
  organizationId: text('the id of an organization, org_…', { max: 64, pattern: /^org_[0-9a-z]+$/ })
    .describe('The organization of the project, overriding that of the namespace.')
    .optional(),
});

export const projectSpec = group('the fields of a Project', {
  slug: projectSlug
    .describe('The project slug; default the name of the resource. It cannot be changed.')
    .optional(),
  displayName: displayName
    .describe('The name that people see; for a new project, default its slug.')
    .optional(),
  deliveryAccess: choice(['Public', 'Protected'])
    .describe(
      'Public: anyone may fetch images; a new project is Public. Protected: every URL must be signed.',
    )
    .optional(),
  state: choice(['Active', 'Suspended'])
    .describe('Suspended: nothing is delivered and uploads are refused.')
    .optional(),
  corsAllowedOrigins: distinct(origin, {
    expected: 'a list of at most 200 origins',
    max: CORS_ALLOWED_ORIGINS_MAX,
  })
    .describe('Origins of the pages that belong to the project.')
    .optional(),
  resolutionPresets: namedAtomic(preset, {
    expected: 'a list of at most 32 items { name, chain }',
    max: RESOLUTION_PRESETS_MAX,
  })
    .describe('Names for transform chains.')
    .optional(),
  allowedTransformChains: distinct(transformChain, {
    expected: 'a list of at most 64 transform chains',
    max: ALLOWED_TRANSFORM_CHAINS_MAX,
  })
    .describe('The only chains that unsigned URLs may use; empty: they may use any.')
    .optional(),
  defaultWatermarkPresetRef: watermarkRef
    .describe('The watermark on every derived image.')
    .optional(),
  rawDownload: choice(['Enabled', 'Disabled'])
    .describe(
      'Whether /download/raw serves images with their saved metadata; disabled for a new project.',
    )
    .optional(),
  callback: callback.describe('Where the project receives webhooks.').optional(),
  warmPresets: distinct(presetName, {
    expected: 'a list of at most 32 preset names',
    max: RESOLUTION_PRESETS_MAX,
  })
    .describe('Presets that are rendered as soon as an upload is ready.')
    .optional(),
  routing: routing.describe('How the delivery hosts are routed in a cluster.').optional(),
  staff: staff.describe('Fields that only staff may set.').optional(),
  deletionPolicy: choice(['Suspend', 'Retain'])
    .default('Suspend')
    .describe(
      'What deleting the resource does to the project, which is never destroyed: Suspend (default) suspends it, Retain leaves it as it is.',
    ),
  adoptionPolicy: choice(['Never', 'IfUnowned'])
    .default('Never')
    .describe(
      'Whether a project that no resource declares, such as one created through the API, may be taken over (IfUnowned); default Never.',
    ),
})
  .superRefine((spec, context) => {
    const presets = spec.resolutionPresets;
    if (presets === undefined) return;
    (spec.warmPresets ?? []).forEach((name, index) => {
      if (presets.some((each) => each.name === name)) return;
      const message = 'the name of one of the resolutionPresets';
      context.addIssue({ code: 'custom', path: ['warmPresets', index], message });
    });
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.slug) == has(oldSelf.slug) && (!has(self.slug) || self.slug == oldSelf.slug)',
        message: '`spec.slug` is immutable',
      },
      {
        rule: '!has(self.warmPresets) || !has(self.resolutionPresets) || self.warmPresets.all(w, self.resolutionPresets.exists(p, p.name == w))',
        message: '`spec.warmPresets` must name items of `spec.resolutionPresets`',
      },
    ],
  });

export type ProjectSpec = z.infer<typeof projectSpec>;

export const projectStatus = z.object({
  ...statusFields,
  projectID: allocated('The project id that webhooks carry.'),
  organizationID: allocated('The organization that owns the project.'),
  defaultHost: allocated('The host that serves the images of the project.'),
  activeKid: allocated('The current signing key.'),
  suspendedBy: allocated('Who suspended the project: owner or staff.'),
  storageLimitSource: allocated('Where the storage limit comes from: plan or staff.'),
});
