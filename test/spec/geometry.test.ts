import { describe, expect, it } from 'vitest';
import { parseChain } from '../../runtime/core/delivery/chain.ts';
import {
  geometry,
  type OutputFormat,
  type SourceFacts,
} from '../../runtime/core/delivery/geometry.ts';
import table from './geometry.json' with { type: 'json' };
import { readSource } from './geometry-rules.ts';
import { geometryRules } from './geometry-table.ts';

describe('the geometry table', () => {
  it('has at least 300 cases', () => {
    expect(table.rules.flatMap(({ cases }) => cases).length).toBeGreaterThanOrEqual(300);
  });

  it('is what geometry-rules.ts computes', () => {
    expect(table.rules, 'node test/spec/geometry-table.ts writes it anew').toEqual(geometryRules());
  });
});

describe.each(table.rules)('$rule', ({ cases }) => {
  it.each(cases)('%s with %s gives %s', (source, chain, gives) => {
    expect(shape(factsOf(source ?? ''), chain ?? '')).toBe(gives);
  });
});

function shape(source: SourceFacts, chain: string): string {
  const parsed = parseChain(chain);
  const found = parsed && geometry(source, parsed, parsed.format ?? storedFormat(source));
  if (found === undefined) return '404';
  const { window: w, output: o } = found;
  return `${w.width}x${w.height}+${w.x}+${w.y} → ${o.width}x${o.height}`;
}

function storedFormat({ content_type }: SourceFacts): OutputFormat {
  const formats = {
    'image/jpeg': 'jpeg',
    'image/png': 'png',
    'image/webp': 'webp',
    'image/avif': 'avif',
    'image/gif': 'gif',
    'image/svg+xml': 'png',
  } as const;
  return formats[content_type];
}

function factsOf(text: string): SourceFacts {
  const { type, width, height, focus, ...rest } = readSource(text);
  const [focal_x, focal_y] = focus.map(({ top, bottom }) => Number(top) / Number(bottom));
  return {
    ...rest,
    content_type:
      type === 'svg' ? 'image/svg+xml' : (`image/${type}` as SourceFacts['content_type']),
    width: Number(width),
    height: Number(height),
    focal_x: focal_x ?? 0,
    focal_y: focal_y ?? 0,
  };
}
