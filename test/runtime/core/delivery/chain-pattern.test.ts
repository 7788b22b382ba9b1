import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain, printChain } from '../../../../runtime/core/delivery/chain.ts';
import {
  SLASHED_CHAIN,
  SLASHED_CHAIN_PRESET,
  SLASHED_CHAIN_TWICE,
} from '../../../../runtime/core/delivery/chain-pattern.ts';
import { chains, spellings } from '../../../support/chains.ts';

const isChain = (text: string) => new RegExp(SLASHED_CHAIN).test(`/${text}`);
const isTwice = (text: string) => new RegExp(SLASHED_CHAIN_TWICE).test(`/${text}`);
const isTaken = (text: string) => isChain(text) && !isTwice(text);

/** The patterns must accept exactly the texts that the parser accepts. */
function expectSame(texts: readonly string[]): void {
  const different = texts.filter((text) => isTaken(text) !== (parseChain(text) !== undefined));
  expect(different).toEqual([]);
}

// Parts of chains, and near misses: joined at random, some are chains.
const operations = [
  ...['resize/9x9', 'resize/640x', 'resize/x8192', 'crop/0,0,10,10', 'crop/999999999,1,2,3'],
  ...['format/webp', 'format/jpg', 'quality/1', 'quality/100', 'watermark', 'watermark:a.b-c_d'],
  ...['preset:thumb', 'preset:preset', 'watermark:watermark', 'preset:crop', 'fit', 'crop', 'fill'],
  'smart',
];
const wrong = [
  ...[
    '',
    ' ',
    'resize',
    'RESIZE/9x9',
    'resize/0x0',
    'resize/8193x1',
    'resize/x',
    'resize/9',
    '9x9',
  ],
  ...['resize/09x9', 'resize/9x9x9', 'resize/9X9', 'resize/-9x9', 'resize/9.5x9', 'resize/9x9\n'],
  ...['crop/1,2,3', 'crop/1,2,3,4,5', 'crop/1000000000,1,1,1', 'crop/01,2,3,4', 'crop/ 1,2,3,4'],
  ...['crop/0,0,0,0', 'crop/0,0,0,10', 'crop/0,0,10,0'],
  ...['format', 'format/gif', 'format/WEBP', 'format/constructor', 'quality/0', 'quality/101'],
  ...['quality/080', 'quality/1e1', 'watermark:', 'watermark:A', 'watermark:.a', 'watermarks'],
  ...['preset', 'preset:', 'preset:-a', `preset:${'a'.repeat(65)}`, 'frobnicate/1', 'originals'],
  ...['nonsense!! ', '/', 'toString', 'download/raw', 'resize%2F9x9', 'resize/9×9', 'f/cat'],
];

describe('the patterns of a transform chain', () => {
  it('accept every chain, in every order and spelling', () => {
    fc.assert(
      fc.property(spellings, chains, (texts, chain) => {
        const refused = [...texts, printChain(chain)].filter((text) => !isTaken(text));
        expect(refused).toEqual([]);
      }),
    );
  });

  it('agree with the parser on what is a chain', () => {
    const pieces = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...operations) },
      { weight: 1, arbitrary: fc.constantFrom(...wrong) },
    );
    const texts = fc.array(pieces, { minLength: 1, maxLength: 7 }).map((each) => each.join('/'));
    fc.assert(
      fc.property(texts, (text) => expectSame([text])),
      { numRuns: 5000 },
    );
    fc.assert(fc.property(fc.string(), (text) => expectSame([text])));
    const all = [...operations, ...wrong];
    expectSame(all.flatMap((one) => all.map((other) => `${one}/${other}`)));
  });

  it('agree with the parser on every number', () => {
    const numbers = Array.from({ length: 10_100 }, (_, number) => number);
    expectSame(
      numbers.flatMap((side) => [`resize/${side}x`, `resize/x${side}`, `resize/1x${side}`]),
    );
    expectSame(numbers.map((quality) => `quality/${quality}`));
    expectSame(numbers.map((number) => `crop/${number},${number},${number},${number}`));
  });

  it.each(wrong)('reject %j, alone and next to another operation', (text) => {
    expect([text, `${text}/watermark`, `watermark/${text}`].filter(isTaken)).toEqual([]);
  });

  it('distinguish crop as a resize mode from crop with a box', () => {
    expect(isTaken('resize/9x9/crop/format/webp/crop/1,2,3,4')).toBe(true);
    expect(isTaken('resize/9x9/crop/crop/1,2,3,4')).toBe(true);
    expect(isTaken('crop/1,2,3,4/resize/9x9/crop/5,6,7,8')).toBe(false);
  });

  it('detect whether a chain names a preset', () => {
    fc.assert(
      fc.property(spellings, ([text]) => {
        const names = parseChain(text)?.preset !== undefined;
        expect(`/${text}`.includes(SLASHED_CHAIN_PRESET)).toBe(names);
      }),
    );
  });
});
