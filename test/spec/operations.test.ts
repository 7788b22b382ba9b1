// Spec: Transform operations, URL shapes. Chains that parse, chains that mean the same, chains that
// do not parse.
import { describe, expect, it } from 'vitest';
import { expandPresets, parseChain, printChain } from '../../runtime/core/delivery/chain.ts';
import { operations } from '../../runtime/core/delivery/operations.ts';
import specification from './operations.json' with { type: 'json' };

type Row = {
  operation: string;
  accepted: { chain: string; same_as?: string[] }[];
  refused: string[];
};
const rows: Row[] = specification.operations.rows;

// The code calls the fit mode by its field of the chain.
const NAMES: Readonly<Record<string, string>> = { 'fit mode': 'mode' };

function canonical(chain: string): string | undefined {
  const parsed = parseChain(chain);
  return parsed && printChain(parsed);
}

describe('the operations', () => {
  it('are those of the specification, in its order', () => {
    const names = rows.map((row) => NAMES[row.operation] ?? row.operation);
    expect(operations.map((operation) => operation.name)).toEqual(names);
  });
});

describe.each(rows)('$operation', ({ accepted, refused }) => {
  it.each(accepted)('$chain is a chain, and prints in its canonical form', ({ chain }) => {
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

  it.each(refused)('%j is no chain', (chain) => {
    expect(parseChain(chain)).toBeUndefined();
  });
});

describe('the grammar', () => {
  it.each(specification.grammar.refused)('%j is no chain', (chain) => {
    expect(parseChain(chain)).toBeUndefined();
  });

  it.each(specification.grammar.preset_expansion)('$chain with its presets', (example) => {
    const { chain, presets, same_as } = example;
    const parsed = parseChain(chain);
    const expanded = parsed && expandPresets(parsed, presets);
    expect(expanded && printChain(expanded)).toBe(
      same_as === null ? undefined : canonical(same_as),
    );
  });
});
