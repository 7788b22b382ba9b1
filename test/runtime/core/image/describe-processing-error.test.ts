// The messages of failed uploads, by declared type. Spec: Processing error codes.
import { describe, expect, it } from 'vitest';
import { type ProcessingErrorCode, processingErrors } from '../../../../runtime/core/errors.ts';
import { describeProcessingError } from '../../../../runtime/core/image/describe-processing-error.ts';
import { formats, pixelLimit } from '../../../../runtime/core/image/formats.ts';

const types = formats.map(({ content_type }) => content_type);
const codes = Object.keys(processingErrors) as ProcessingErrorCode[];
const OF_THE_FILE = [
  'unsupported_media_type',
  'image_too_large',
  'processing_timeout',
  'decode_failed',
] as const;
const rasters = types.filter((type) => type !== 'image/svg+xml');

describe.each(types)('the sentence on a failed upload of %s', (type) => {
  it.each(codes)('is a whole sentence for %s', (code) => {
    expect(describeProcessingError(code, type)).toMatch(/^[A-Z].{20,}\.$/);
    expect(describeProcessingError(code, type)).not.toMatch(/undefined|NaN/);
  });

  it.each(OF_THE_FILE)('for %s mentions SVG or TIFF only if that is the type', (code) => {
    const isVector = type === 'image/svg+xml';
    expect(/SVG|namespace/.test(describeProcessingError(code, type))).toBe(isVector);
    expect(/TIFF/.test(describeProcessingError(code, type))).toBe(
      type === 'image/tiff' && code !== 'processing_timeout',
    );
  });
});

it.each(rasters)(
  'the sentence on a failed upload of %s with image_too_large names every pixel limit of the type',
  (type) => {
    const depths = type === 'image/png' ? [8, 16] : [8];
    for (const bits_per_channel of depths) {
      for (const [has_alpha, is_lossless] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        const facts = { content_type: type, bits_per_channel, has_alpha, is_lossless };
        const megapixels = String(pixelLimit(facts) / 1_000_000);
        expect(describeProcessingError('image_too_large', type)).toMatch(
          new RegExp(`\\b${megapixels}\\b`),
        );
      }
    }
  },
);

it('the sentence on an unknown type is the message of the error table', () => {
  expect(describeProcessingError('decode_failed', 'image/heic')).toBe(
    processingErrors.decode_failed.message,
  );
});
