/**
 * Transform chains in request bodies: text in the grammar of delivery URLs. Spec: Transform operations; Project
 * (resolution_presets, allowed_transform_chains); Recipe.
 */
import { z } from 'zod';
import { parseChain, readBeginning } from '../delivery/chain.ts';
import { RESOLUTION_PRESETS_MAX, TRANSFORM_CHAIN_LENGTH_MAX } from '../limits.ts';
import { isPresetName } from '../slug.ts';
import { atMost, expected } from './wire.ts';

/** The expectation that an error states. */
export const CHAIN_EXPECTED = 'a transform chain such as resize/640x480/fit/format/webp';

/** How a chain begins, and its characters. */
export const CHAIN_PATTERN = '(resize|crop|format|quality|watermark|preset)[a-z0-9/:,._-]*';

/** A chain that parses, as it was sent. */
export const transformChain = z
  .string({ error: expected(CHAIN_EXPECTED) })
  .max(TRANSFORM_CHAIN_LENGTH_MAX, {
    error: `expected a transform chain of at most ${TRANSFORM_CHAIN_LENGTH_MAX} characters`,
    abort: true,
  })
  .refine((text) => parseChain(text) !== undefined, {
    error: ({ input }) =>
      `expected ${CHAIN_EXPECTED}; ${unparsedPart(String(input))} cannot be read`,
  })
  .meta({
    description:
      'Operations between slashes, in any order, each at most once: resize/<w>x<h> with fill, smart or fit; crop/<x>,<y>,<w>,<h>; format/<name>; quality/<1..100>; watermark or watermark:<id>; preset:<name>.',
    pattern: `^${CHAIN_PATTERN}$`,
  });

/** The part where a chain stops being valid, in quotes: what follows the operations that can be read. */
export function unparsedPart(text: string): string {
  const segments = text.split('/');
  const { length } = readBeginning(segments);
  return JSON.stringify(segments.slice(length, length + 2).join('/'));
}

const presetChain = transformChain.refine((text) => parseChain(text)?.preset === undefined, {
  error: 'expected a transform chain without preset:, as presets do not nest',
});

const NAME_EXPECTED =
  'expected a name of lower-case letters, digits, dots, underscores or hyphens, at most 64, beginning with a letter or digit';
const PRESETS_EXPECTED = expected(
  'an object of names and their transform chains, such as {"thumb": "resize/200x200"}',
);

const presetName = z.string().refine(isPresetName).meta({ pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' });

const presets = z
  .record(presetName, presetChain, {
    error: (issue) => (issue.code === 'invalid_key' ? NAME_EXPECTED : PRESETS_EXPECTED(issue)),
  })
  .meta({ maxProperties: RESOLUTION_PRESETS_MAX });

/** Name to chain, at most 32. z.record silently drops `__proto__`, so it is refused before. */
export const resolutionPresets = z.preprocess(
  (value, context) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '__proto__'))
      return value;
    context.issues.push({
      code: 'custom',
      path: ['__proto__'],
      message: NAME_EXPECTED,
      input: value,
    });
    return z.NEVER;
  },
  atMost(RESOLUTION_PRESETS_MAX, presets, {
    error: `expected at most ${RESOLUTION_PRESETS_MAX} presets`,
  }),
);
