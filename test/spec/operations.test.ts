// Spec: Transform operations, URL shapes. Chains that parse, chains that are equivalent, and chains that do not parse.
import { describe, expect, it } from 'vitest';
import {
  expandPresets,
  parseChain,
  printChain,
  readChain,
} from '../../runtime/core/delivery/chain.ts';
import type { SourceFacts } from '../../runtime/core/delivery/geometry.ts';
import { operations } from '../../runtime/core/delivery/operations.ts';
import { planRender, printPlan } from '../../runtime/core/delivery/plan.ts';
import type { WatermarkFacts } from '../../runtime/core/delivery/watermark.ts';
import additions from './additions.json' with { type: 'json' };
import specification from './operations.json' with { type: 'json' };

type Row = {
  operation: string;
  accepted: { chain: string; same_as?: string[] }[];
  refused: string[];
};
const rows: Row[] = [...specification.operations.rows, ...additions.operations];

// The code names the fit mode after its field.
const NAMES: Readonly<Record<string, string>> = { 'fit mode': 'mode' };

function canonical(chain: string): string | undefined {
  const parsed = parseChain(chain);
  return parsed && printChain(parsed);
}

describe('the operations', () => {
  it('are those of the specification, in its order, followed by the additions', () => {
    const names = rows.map((row) => NAMES[row.operation] ?? row.operation);
    expect(operations.map((operation) => operation.name)).toEqual(names);
  });
});

describe.each(rows)('$operation', ({ accepted, refused }) => {
  it.each(accepted)('$chain is valid, and prints in a stable canonical form', ({ chain }) => {
    const printed = canonical(chain);
    expect(printed).toBeDefined();
    expect(canonical(printed ?? '')).toBe(printed);
  });

  const pairs = accepted.flatMap(({ chain, same_as = [] }) =>
    same_as.map((other) => ({ chain, other })),
  );
  if (pairs.length > 0) {
    it.each(pairs)('$other means the same as $chain', ({ chain, other }) => {
      expect(canonical(other)).toBe(canonical(chain));
    });
  }

  it.each(refused)('rejects %j', (chain) => {
    expect(parseChain(chain)).toBeUndefined();
  });
});

const parsedChains = rows.flatMap(({ accepted }) =>
  accepted.flatMap(({ chain }) => parseChain(chain) ?? []),
);
/** Every preset that a chain of the table names, each with a different meaning. */
const presets = Object.fromEntries(
  [...new Set(parsedChains.flatMap(({ preset }) => preset ?? []))].map((name, at) => [
    name,
    `resize/${at + 1}x`,
  ]),
);
/** Not square, with an off-center focal point, and of a type whose default format has a quality. */
const source: SourceFacts = {
  content_type: 'image/avif',
  width: 4000,
  height: 2000,
  has_alpha: false,
  is_lossless: false,
  focal_x: 0.1,
  focal_y: 0.5,
};
const logo: WatermarkFacts = {
  object_key: 'logo',
  width: 10,
  height: 10,
  x_offset: 0,
  y_offset: 0,
  opacity: 100,
  revision_tag: 'file_1:1',
};

function planText(text: string): string | undefined {
  const chain = readChain(text, presets);
  const watermark = chain?.watermark?.preset_id == null ? null : logo;
  const plan = chain && planRender({ source, chain, watermark });
  return plan && printPlan(plan);
}

describe('a printed render plan, which is the key of stored images', () => {
  it.each(rows)('differs with every value of $operation', ({ accepted }) => {
    const chains = new Set(accepted.map(({ chain }) => canonical(chain)));
    const plans = new Set(accepted.map(({ chain }) => planText(chain)));
    expect(plans).not.toContain(undefined);
    expect(plans.size).toBeGreaterThan(1);
    expect(plans.size).toBe(chains.size);
  });
});

describe('the transform chain grammar', () => {
  it.each(specification.grammar.refused)('rejects %j', (chain) => {
    expect(parseChain(chain)).toBeUndefined();
  });

  it.each(specification.grammar.preset_expansion)(
    'expands or rejects the presets in $chain',
    (example) => {
      const { chain, presets, same_as } = example;
      const parsed = parseChain(chain);
      const expanded = parsed && expandPresets(parsed, presets);
      expect(expanded && printChain(expanded)).toBe(
        same_as === null ? undefined : canonical(same_as),
      );
    },
  );
});
