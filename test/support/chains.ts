// Random transform chains: parsed, and as URL text with the operations in any order.
import fc from 'fast-check';
import type { ParsedChain } from '../../runtime/core/delivery/operations.ts';

const side = fc.integer({ min: 1, max: 8192 });
const coordinate = fc.integer({ min: 0, max: 999_999_999 });
const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/);

const resize = fc.oneof(
  fc.record({ width: side, height: side }),
  fc.record({ width: side, height: fc.constant(null) }),
  fc.record({ width: fc.constant(null), height: side }),
);
const cropSide = fc.integer({ min: 1, max: 999_999_999 });
const crop = fc.record({ x: coordinate, y: coordinate, width: cropSide, height: cropSide });
const format = fc.constantFrom('webp', 'avif', 'jpeg', 'png');
const watermark = fc.record({ preset_id: fc.option(name) });

/** Chains in the form that `parseChain` returns. */
export const chains: fc.Arbitrary<ParsedChain> = fc
  .record(
    {
      resize,
      mode: fc.constantFrom('smart', 'fit'),
      crop,
      format,
      quality: fc.integer({ min: 1, max: 100 }),
      watermark,
      preset: name,
    },
    { requiredKeys: [] },
  )
  .map(({ mode, ...chain }) => {
    const isBox = chain.resize?.width && chain.resize.height;
    return mode !== undefined && isBox ? { ...chain, mode } : chain;
  })
  .filter((chain) => Object.keys(chain).length > 0);

/** Two texts of the same chain, which may differ in operation order and spelling. */
export const spellings: fc.Arbitrary<readonly [string, string]> = chains
  .chain((chain) => fc.tuple(written(chain), written(chain)))
  .map(([one, other]) => [one, other] as const);

function written(chain: ParsedChain): fc.Arbitrary<string> {
  const operations = [
    chain.resize && fc.constantFrom(...resizeTexts(chain)),
    chain.crop && fc.constant(`crop/${Object.values(chain.crop).join(',')}`),
    chain.format && fc.constantFrom(...formatTexts(chain.format)),
    chain.quality && fc.constant(`quality/${chain.quality}`),
    chain.watermark && fc.constant(watermarkText(chain.watermark)),
    chain.preset && fc.constant(`preset:${chain.preset}`),
  ].filter((text) => typeof text === 'object');
  return fc
    .tuple(...operations)
    .chain((texts) => fc.shuffledSubarray(texts, { minLength: texts.length }))
    .map((texts) => texts.join('/'));
}

function resizeTexts({ resize, mode = 'fill' }: ParsedChain): string[] {
  const text = `resize/${resize?.width ?? ''}x${resize?.height ?? ''}`;
  const modes = {
    fill: ['', '/fill', '/crop', '/fit/fill', '/fit/crop'],
    smart: ['/smart', '/fit/smart'],
    fit: ['/fit', '/fit/fit'],
  };
  return modes[mode].map((suffix) => text + suffix);
}

function formatTexts(format: string): string[] {
  return format === 'jpeg' ? ['format/jpeg', 'format/jpg'] : [`format/${format}`];
}

function watermarkText({ preset_id }: { preset_id: string | null }): string {
  return preset_id === null ? 'watermark' : `watermark:${preset_id}`;
}
