import { describe, expect, it } from 'vitest';
import {
  firstRefusal,
  type RefusalFacts,
  refusals,
} from '../../../../runtime/core/delivery/refusals.ts';
import { parseDeliveryUrl } from '../../../../runtime/core/delivery/url.ts';

const project = {
  status: 'active',
  is_over_quota: false,
  delivery_access: 'public',
  raw_download_enabled: true,
} as const;
const chain = { is_known: true, is_allowed: true, is_renderable: true };
const derived: RefusalFacts = {
  url: parseDeliveryUrl('/resize/1x1/f/a'),
  project,
  file: { status: 'ready', content_type: 'image/webp' },
  signature: 'none',
  chain,
  render: 'done',
};
const raw: RefusalFacts = {
  ...derived,
  url: parseDeliveryUrl('/download/raw/f/a'),
  chain: undefined,
  render: undefined,
};
const originals: RefusalFacts = { ...raw, url: parseDeliveryUrl('/originals/f/a') };

type Fault = { row: number; name: string; apply(facts: RefusalFacts): RefusalFacts | undefined };

/** Each cause of the table, as a change to good facts; undefined if it does not apply. */
const faults: readonly Fault[] = [
  { row: 0, name: 'malformed', apply: (facts) => ({ ...facts, url: undefined }) },
  { row: 0, name: 'unknown host', apply: (facts) => ({ ...facts, project: undefined }) },
  { row: 1, name: 'suspended', apply: (facts) => ofProject(facts, { status: 'suspended' }) },
  { row: 2, name: 'over quota', apply: (facts) => ofProject(facts, { is_over_quota: true }) },
  { row: 3, name: 'no file', apply: (facts) => ({ ...facts, file: undefined }) },
  { row: 3, name: 'deleted', apply: (facts) => ofFile(facts, { status: 'deleted' }) },
  { row: 4, name: 'blocked', apply: (facts) => ofFile(facts, { status: 'blocked' }) },
  { row: 5, name: 'bad signature', apply: (facts) => signed(facts, 'invalid_signature') },
  { row: 5, name: 'expired signature', apply: (facts) => signed(facts, 'signature_expired') },
  { row: 5, name: 'unknown kid', apply: (facts) => signed(facts, 'unknown_kid') },
  {
    row: 6,
    name: 'protected',
    apply: (facts) => ofProject(facts, { delivery_access: 'protected' }),
  },
  { row: 7, name: 'not allowed', apply: (facts) => ofChain(facts, { is_allowed: false }) },
  {
    row: 8,
    name: 'raw disabled',
    apply: (facts) => ofProject(facts, { raw_download_enabled: false }),
  },
  { row: 8, name: 'no chain', apply: (facts) => ofChain(facts, { is_known: false }) },
  { row: 8, name: 'no plan', apply: (facts) => ofChain(facts, { is_renderable: false }) },
  { row: 9, name: 'raw of AVIF', apply: (facts) => ofFile(facts, { content_type: 'image/avif' }) },
  { row: 10, name: 'busy', apply: (facts) => ofRender(facts, 'busy') },
  { row: 11, name: 'too long', apply: (facts) => ofRender(facts, 'render_timeout') },
];

function ofProject(facts: RefusalFacts, change: Partial<NonNullable<RefusalFacts['project']>>) {
  return facts.project && { ...facts, project: { ...facts.project, ...change } };
}

function ofFile(facts: RefusalFacts, change: Partial<NonNullable<RefusalFacts['file']>>) {
  return facts.file && { ...facts, file: { ...facts.file, ...change } };
}

function ofChain(facts: RefusalFacts, change: Partial<NonNullable<RefusalFacts['chain']>>) {
  return facts.chain && { ...facts, chain: { ...facts.chain, ...change } };
}

function ofRender(facts: RefusalFacts, render: 'busy' | 'render_timeout') {
  return facts.render && { ...facts, render };
}

function signed(facts: RefusalFacts, signature: RefusalFacts['signature']) {
  return { ...facts, signature };
}

/** The index in the table of the first refusal that applies. */
function decidingRow(facts: RefusalFacts): number {
  return refusals.findIndex((row) => row.refuse(facts) !== null);
}

function refuses(row: number, facts: RefusalFacts): boolean {
  return (refusals[row]?.refuse(facts) ?? null) !== null;
}

const requests = { derived, raw, originals };
const cases = Object.entries(requests).flatMap(([kind, facts]) =>
  faults.flatMap((fault) => {
    const faulty = fault.apply(facts);
    const isFault = faulty !== undefined && decidingRow(faulty) === fault.row;
    return isFault ? [{ kind, facts: faulty, ...fault }] : [];
  }),
);
const pairs = cases.flatMap((one) =>
  faults.flatMap((other) => {
    const facts = one.row < other.row ? other.apply(one.facts) : undefined;
    const canBoth = facts !== undefined && refuses(one.row, facts) && refuses(other.row, facts);
    return canBoth ? [{ kind: one.kind, one, other, facts }] : [];
  }),
);

describe('the delivery refusals', () => {
  it('refuse nothing if nothing is wrong', () => {
    expect(Object.values(requests).map(firstRefusal)).toEqual([null, null, null]);
    expect(firstRefusal(signed(derived, 'valid'))).toBeNull();
  });

  it('cover every row of the table with at least one test case', () => {
    const rows = new Set(cases.map(({ row }) => row));
    expect([...rows].sort((one, other) => one - other)).toEqual([...refusals.keys()]);
  });

  it.each(cases)('$kind, $name: row $row decides', ({ facts, row }) => {
    expect(refusals[row]?.codes).toContain(firstRefusal(facts)?.code);
    expect(firstRefusal(facts)?.status).toBe(refusals[row]?.status);
  });

  it.each(pairs)('$kind, $one.name and $other.name: the earlier row decides', (pair) => {
    expect(decidingRow(pair.facts)).toBe(pair.one.row);
  });

  it('cover more than 200 pairs of rows that can apply together', () => {
    expect(pairs.length).toBeGreaterThan(200);
  });
});

describe('a signature', () => {
  it.each(['invalid_signature', 'signature_expired', 'unknown_kid'] as const)(
    'is refused on a public project too if it is wrong: %s',
    (signature) => {
      expect(firstRefusal(signed(originals, signature))).toEqual({ status: 403, code: signature });
    },
  );

  it('opens a protected project and bypasses allowed_transform_chains if it is valid', () => {
    const closed = { ...derived, project: { ...project, delivery_access: 'protected' as const } };
    const unlisted = { ...chain, is_allowed: false };
    expect(firstRefusal(signed({ ...closed, chain: unlisted }, 'valid'))).toBeNull();
    expect(firstRefusal(closed)?.code).toBe('signature_required');
  });

  it('does not make an unknown chain acceptable, even if it is valid', () => {
    const unknown = { ...derived, chain: { ...chain, is_known: false, is_allowed: false } };
    expect(firstRefusal(signed(unknown, 'valid'))?.code).toBe('not_found');
    expect(firstRefusal(unknown)?.code).toBe('transform_chain_not_allowed');
  });
});

describe('a raw download', () => {
  it.each([
    ['image/jpeg', null],
    ['image/png', null],
    ['image/webp', null],
    ['image/avif', 'raw_unavailable'],
    ['image/gif', 'raw_unavailable'],
    ['image/svg+xml', 'raw_unavailable'],
  ])('of %s gives the refusal %s', (content_type, code) => {
    const facts = { ...raw, file: { status: 'ready' as const, content_type } };
    expect(firstRefusal(facts)?.code ?? null).toBe(code);
  });
});
