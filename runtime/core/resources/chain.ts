/**
 * Transform chains as bodies carry them: text that follows the grammar of delivery URLs.
 * Spec: Transform operations; Project (resolution_presets, allowed_transform_chains); Recipe.
 */
import { z } from 'zod';
import { parseChain } from '../delivery/chain.ts';
import { RESOLUTION_PRESETS_MAX, TRANSFORM_CHAIN_LENGTH_MAX } from '../limits.ts';
import { isPresetName } from '../slug.ts';
import { expected } from './wire.ts';

/** What an error asks for. */
export const CHAIN_EXPECTED = 'a transform chain such as resize/640x480/fit/format/webp';

/** A chain that parses, in the words in which it was sent. */
export const transformChain = z
  .string({ error: expected(CHAIN_EXPECTED) })
  .max(TRANSFORM_CHAIN_LENGTH_MAX, { error: `expected ${CHAIN_EXPECTED}` })
  .refine((text) => parseChain(text) !== undefined, { error: `expected ${CHAIN_EXPECTED}` });

const presetChain = transformChain.refine((text) => parseChain(text)?.preset === undefined, {
  error: 'a preset cannot name another preset',
});

const presetName = z.string().refine(isPresetName, {
  error:
    'expected a name of lower-case letters, digits, dots, underscores or hyphens, at most 64, beginning with a letter or digit',
});

/** Name to chain, at most 32. */
export const resolutionPresets = z
  .record(presetName, presetChain, { error: expected('an object of name to transform chain') })
  .refine((presets) => Object.keys(presets).length <= RESOLUTION_PRESETS_MAX, {
    error: `expected at most ${RESOLUTION_PRESETS_MAX} presets`,
  });
