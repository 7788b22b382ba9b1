/**
 * The WatermarkPreset resource: a ready file of the project, where it is drawn and how strongly. Spec: Watermark
 * preset.
 */
import { z } from 'zod';
import {
  FILE_SLUG_LENGTH_MAX,
  NAME_LENGTH_MAX,
  URL_LENGTH_MAX,
  WATERMARK_OFFSET_PX_DEFAULT,
  WATERMARK_OFFSET_PX_MAX,
  WATERMARK_OPACITY_DEFAULT,
  WATERMARK_OPACITY_MAX,
  WATERMARK_OPACITY_MIN,
} from '../../runtime/core/limits.ts';
import { DOWNLOAD_PORTS, downloadFault } from '../../runtime/platform/public-download.ts';
import type { Identity } from '../declared.ts';
import {
  checked,
  displayName,
  fileSlug,
  group,
  integer,
  matching,
  projectRef,
  reference,
  text,
} from '../fields.ts';
import { allocated, statusFields } from '../status-fields.ts';

const offset = integer(
  `a whole number of pixels, -${WATERMARK_OFFSET_PX_MAX} to ${WATERMARK_OFFSET_PX_MAX}`,
  { min: -WATERMARK_OFFSET_PX_MAX, max: WATERMARK_OFFSET_PX_MAX },
);

const keyInside = text('the key inside it', { max: 253, pattern: /^[-._a-zA-Z0-9]+$/ });

function source(kind: string) {
  return group(`{ name, key } of a ${kind}`, {
    name: reference(kind).shape.name,
    key: keyInside.describe('The key that holds the bytes of the image.'),
  });
}

const urlExpected = `an https URL of a public host, at port ${DOWNLOAD_PORTS.join(' or ')}, without user name or password`;
/** Also valid in RE2; only `downloadFault` recognizes addresses that are not public. */
const IMAGE_URL = new RegExp(
  String.raw`^https://([^\s/?#\\@:\[\]]+|\[[^\s/?#\\@\[\]]+\])(:0*(${DOWNLOAD_PORTS.join('|')})?)?([/?#\\]\S*)?$`,
);
const imageUrl = text(urlExpected, { max: URL_LENGTH_MAX })
  .refine((url) => IMAGE_URL.test(url) && downloadFault(url) === undefined, { error: urlExpected })
  .meta(checked(matching(IMAGE_URL), urlExpected));

const image = group('one of configMapRef, secretRef or url', {
  configMapRef: source('ConfigMap').describe('A ConfigMap that holds the image.').optional(),
  secretRef: source('Secret').describe('A Secret that holds the image.').optional(),
  url: imageUrl.describe('Where the image is fetched from.').optional(),
  sha256: text('64 hexadecimal digits', { max: 64, pattern: /^[0-9a-f]{64}$/ })
    .describe('The SHA-256 hash that the image at the URL must have.')
    .optional(),
})
  .refine((it) => [it.configMapRef, it.secretRef, it.url].filter(Boolean).length === 1, {
    error: 'exactly one of configMapRef, secretRef and url',
  })
  .refine((it) => (it.url === undefined) === (it.sha256 === undefined), {
    error: 'url and sha256 together',
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '[has(self.configMapRef), has(self.secretRef), has(self.url)].filter(x, x).size() == 1',
        message: 'must have exactly one of `configMapRef`, `secretRef` and `url`',
      },
      {
        rule: 'has(self.url) == has(self.sha256)',
        message: '`url` and `sha256` must be set together',
      },
    ],
  });

export const watermarkPresetSpec = group('the fields of a WatermarkPreset', {
  projectRef,
  displayName: displayName
    .describe(
      `The name of the preset, unique in its project; default the name of the resource, if that has at most ${NAME_LENGTH_MAX} characters.`,
    )
    .optional(),
  fileSlug: fileSlug
    .describe(
      `The file that is drawn. With image, the slug that the image is uploaded under; default the name of the resource, if that has at most ${FILE_SLUG_LENGTH_MAX} characters.`,
    )
    .optional(),
  image: image.describe('An image that the operator uploads.').optional(),
  xOffset: offset
    .describe('Pixels from the left edge; negative: from the right edge.')
    .default(WATERMARK_OFFSET_PX_DEFAULT),
  yOffset: offset
    .describe('Pixels from the top edge; negative: from the bottom edge.')
    .default(WATERMARK_OFFSET_PX_DEFAULT),
  opacityPercent: integer('a whole number, 0 to 100', {
    min: WATERMARK_OPACITY_MIN,
    max: WATERMARK_OPACITY_MAX,
  })
    .describe('The opacity of the watermark; 100 is opaque.')
    .default(WATERMARK_OPACITY_DEFAULT),
})
  .refine((spec) => spec.fileSlug !== undefined || spec.image !== undefined, {
    error: 'fileSlug, the file that is drawn',
    path: ['fileSlug'],
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.fileSlug) || has(self.image)',
        message: 'must have `fileSlug` or `image`',
      },
    ],
  });

export type WatermarkPresetSpec = z.infer<typeof watermarkPresetSpec>;

/** The slug of the file that a preset draws. */
export function fileSlugOf(identity: Identity, spec: WatermarkPresetSpec): string {
  return spec.fileSlug ?? identity.name;
}

export const watermarkPresetStatus = z.object({
  ...statusFields,
  presetID: allocated('The id of the preset, as watermark:<id> uses it.'),
  fileRevision: z
    .int()
    .min(0)
    .describe('The revision of the file that is drawn, as of the last check.')
    .optional(),
});
