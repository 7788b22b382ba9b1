import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expandPresets,
  isAllowedChain,
  parseChain,
  printChain,
  readAllowedChains,
  readChain,
} from '../../../../runtime/core/delivery/chain.ts';
import { chains, spellings } from '../../../support/chains.ts';

describe('parseChain and printChain', () => {
  it('parse a printed chain back to the same chain', () => {
    fc.assert(
      fc.property(chains, (chain) => {
        expect(parseChain(printChain(chain))).toEqual(chain);
      }),
    );
  });

  it('print the same text for every spelling and order of a chain', () => {
    fc.assert(
      fc.property(spellings, ([one, other]) => {
        expect(canonical(one)).toBeDefined();
        expect(canonical(one)).toBe(canonical(other));
      }),
    );
  });

  it('print a canonical text unchanged', () => {
    fc.assert(
      fc.property(spellings, ([text]) => {
        const printed = canonical(text) ?? '';
        expect(canonical(printed)).toBe(printed);
      }),
    );
  });

  it('never throw, and reject a chain that repeats an operation', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseChain(text)));
    fc.assert(
      fc.property(chains, (chain) => {
        const text = printChain(chain);
        expect(parseChain(`${text}/${text}`)).toBeUndefined();
      }),
    );
  });

  it.each([
    ['format/webp/resize/640x480', 'resize/640x480/format/webp'],
    ['resize/100x100/crop/10,20,30,40', 'crop/10,20,30,40/resize/100x100'],
    ['resize/100x100/fit/crop/10,20,30,40', 'crop/10,20,30,40/resize/100x100/fit'],
    ['resize/100x100/crop/crop/10,20,30,40', 'crop/10,20,30,40/resize/100x100'],
    ['resize/100x100/smart/crop/1,2,3,4/quality/5', 'crop/1,2,3,4/resize/100x100/smart/quality/5'],
    ['resize/640x/smart', 'resize/640x'],
    ['resize/x480/fit', 'resize/x480'],
    ['resize/640x480/fit/watermark', 'resize/640x480/fit/watermark'],
    [
      'preset:a.b/watermark:wm_1/quality/100/format/jpg',
      'format/jpeg/quality/100/watermark:wm_1/preset:a.b',
    ],
  ])('print %s as %s', (text, printed) => {
    expect(canonical(text)).toBe(printed);
  });

  it('accept a mode only directly after resize', () => {
    expect(parseChain('resize/10x10/format/webp/fit')).toBeUndefined();
    expect(parseChain('resize/10x10/crop/1,2,3,4/fit')).toBeUndefined();
    expect(parseChain('crop/1,2,3,4/fit')).toBeUndefined();
  });
});

describe('expandPresets', () => {
  const presets = {
    thumb: 'resize/200x200/smart',
    full: 'format/webp/quality/80',
    nested: 'preset:thumb',
    broken: 'resize/0x0',
    cut: 'crop/0,0,10,10',
  };

  it('replaces the preset with its chain, wherever it stands', () => {
    for (const text of ['preset:thumb/quality/70', 'quality/70/preset:thumb']) {
      expect(print(text)).toBe('resize/200x200/smart/quality/70');
    }
    expect(print('resize/10x10/preset:cut')).toBe('crop/0,0,10,10/resize/10x10');
  });

  it('leaves a chain without a preset as it is', () => {
    expect(print('format/png')).toBe('format/png');
  });

  it.each([
    ['preset:unknown', 'an unknown preset'],
    ['preset:constructor', 'a name of every object'],
    ['preset:nested', 'a preset inside a preset'],
    ['preset:broken', 'a preset that does not parse'],
    ['preset:full/quality/80', 'an operation twice, even the same one'],
    ['preset:thumb/resize/10x', 'two sizes'],
  ])('rejects %s: %s', (text) => {
    expect(print(text)).toBeUndefined();
  });

  function print(text: string): string | undefined {
    const chain = parseChain(text);
    const expanded = chain && expandPresets(chain, presets);
    return expanded && printChain(expanded);
  }
});

function inEveryOrder(operations: readonly string[]): string[] {
  if (operations.length === 1) return [...operations];
  return operations.flatMap((first) => {
    const rest = operations.filter((operation) => operation !== first);
    return inEveryOrder(rest).map((text) => `${first}/${text}`);
  });
}

describe('isAllowedChain', () => {
  const project = {
    allowed_transform_chains: ['format/webp/resize/640x480', 'preset:thumb', 'resize/9999x1', ''],
    resolution_presets: { thumb: 'resize/200x200/smart' },
  };

  it.each([
    ['resize/640x480/format/webp', true],
    ['resize/640x480/fill/format/webp', true],
    ['preset:thumb', true],
    ['resize/200x200/fit/smart', true],
    ['resize/640x480', false],
    ['resize/640x480/format/webp/quality/80', false],
    ['resize/9999x1', false],
    ['preset:gone', false],
    ['', false],
  ])('allows %s: %s', (text, isAllowed) => {
    const chain = readChain(text, project.resolution_presets);
    expect(isAllowedChain(chain, readAllowedChains(project))).toBe(isAllowed);
  });

  it('allows every spelling of a listed chain, of which there are at most 2,160', () => {
    const modes = ['', '/fill', '/crop', '/smart', '/fit'].flatMap((mode) => [mode, `/fit${mode}`]);
    const others = ['crop/1,2,3,4', 'quality/80', 'watermark'];
    const written = [...new Set(modes)].flatMap((mode) =>
      ['jpeg', 'jpg'].flatMap((format) =>
        inEveryOrder([`resize/20x${mode}`, `format/${format}`, ...others]),
      ),
    );
    const allowed = (texts: readonly string[], listed: string) => {
      const list = readAllowedChains({ ...project, allowed_transform_chains: [listed] });
      return texts.filter((text) => isAllowedChain(parseChain(text), list));
    };
    expect(allowed(written, `resize/20x/format/jpeg/${others.join('/')}`)).toHaveLength(2160);
    const boxes = written.map((text) => text.replace('20x', '20x20'));
    expect(allowed(boxes, `resize/20x20/format/jpeg/${others.join('/')}`)).toHaveLength(1200);
    expect(allowed(boxes, `resize/20x20/fit/format/jpeg/${others.join('/')}`)).toHaveLength(480);
  });

  it('allows every chain if the list is empty', () => {
    const open = readAllowedChains({ ...project, allowed_transform_chains: [] });
    expect(isAllowedChain(parseChain('resize/1x1'), open)).toBe(true);
    expect(isAllowedChain(undefined, open)).toBe(true);
  });

  it('allows nothing if no entry of the list can be read', () => {
    const none = readAllowedChains({ ...project, allowed_transform_chains: ['preset:gone'] });
    expect(isAllowedChain(parseChain('resize/1x1'), none)).toBe(false);
    expect(isAllowedChain(undefined, none)).toBe(false);
  });
});

function canonical(text: string): string | undefined {
  const chain = parseChain(text);
  return chain && printChain(chain);
}
