// Transform chains: operations in any order, each at most once. Spec: Delivery host, Transform
// operations; Output rules 9. A chain has one canonical text, so that two chains that mean the
// same compare equal, share one rendered object and match the same allowed chain.
import { type Operation, type OperationName, operations, type ParsedChain } from './operations.ts';

/** Parses a chain from a URL; undefined when it does not follow the grammar. */
export function parseChain(text: string): ParsedChain | undefined {
  const segments = text.split('/');
  const { chain, length } = readBeginning(segments);
  return length === segments.length ? normalize(chain) : undefined;
}

/**
 * Reads operations up to the first that cannot be read or occurs twice; `length` counts the segments
 * read. It takes linear time, as there are few operations.
 */
export function readBeginning(segments: readonly string[]): { chain: ParsedChain; length: number } {
  let chain: ParsedChain = {};
  let previous: OperationName | undefined;
  let length = 0;
  while (length < segments.length) {
    const next = readOperation(segments.slice(length), previous);
    if (next === undefined || Object.hasOwn(chain, next.name)) break;
    chain = { ...chain, ...next.found };
    previous = next.name;
    length += next.length;
  }
  return { chain, length };
}

/**
 * The canonical text: crop first, as it is applied; `parseChain` turns it back into the same chain.
 */
export function printChain(chain: ParsedChain): string {
  return printingOrder.flatMap((operation) => operation.print(chain)).join('/');
}

/**
 * Replaces `preset:<name>` by the operations of the resolution preset. Undefined when the project
 * has no such preset, its chain does not parse or names a preset, or an operation would occur
 * twice.
 */
export function expandPresets(
  chain: ParsedChain,
  presets: Readonly<Record<string, string>>,
): ParsedChain | undefined {
  const { preset, ...own } = chain;
  if (preset === undefined) return chain;
  const text = Object.hasOwn(presets, preset) ? presets[preset] : undefined;
  const inner = text === undefined ? undefined : parseChain(text);
  if (inner === undefined || inner.preset !== undefined) return undefined;
  const isTwice = Object.keys(own).some((name) => Object.hasOwn(inner, name));
  return isTwice ? undefined : { ...inner, ...own };
}

/** The chains that unsigned URLs of a project may use, as canonical texts; null: every one. */
export type AllowedChains = ReadonlySet<string> | null;

/**
 * Output rule 9. A project's empty list allows every chain; an entry that cannot be parsed allows
 * nothing. Parsed once and cached where every request needs it: 64 chains take longer to parse than
 * the rest of a cache hit.
 */
export function readAllowedChains(project: {
  readonly allowed_transform_chains: readonly string[];
  readonly resolution_presets: Readonly<Record<string, string>>;
}): AllowedChains {
  const { allowed_transform_chains, resolution_presets } = project;
  if (allowed_transform_chains.length === 0) return null;
  const listed = allowed_transform_chains.flatMap(
    (text) => readChain(text, resolution_presets) ?? [],
  );
  return new Set(listed.map(printChain));
}

/**
 * Whether an unsigned URL may use this expanded chain, in any order of operations; a chain that
 * could not be parsed (undefined) is not allowed.
 */
export function isAllowedChain(chain: ParsedChain | undefined, allowed: AllowedChains): boolean {
  return allowed === null || (chain !== undefined && allowed.has(printChain(chain)));
}

/** Parses a chain and expands its preset; undefined when either fails. */
export function readChain(
  text: string,
  presets: Readonly<Record<string, string>>,
): ParsedChain | undefined {
  const chain = parseChain(text);
  return chain && expandPresets(chain, presets);
}

// crop comes first: after resize it could be read as the mode of that name.
const printingOrder: readonly Operation[] = [
  ...operations.filter(({ name }) => name === 'crop'),
  ...operations.filter(({ name }) => name !== 'crop'),
];

function readOperation(segments: readonly string[], previous: OperationName | undefined) {
  for (const operation of operations) {
    const read = operation.parse(segments, previous);
    if (read !== undefined) return { ...read, name: operation.name };
  }
  return undefined;
}

// `fill` is the default mode of a box, and with a single side there is nothing to fill or fit.
function normalize(chain: ParsedChain): ParsedChain {
  const { mode, ...rest } = chain;
  const isBox = rest.resize?.width != null && rest.resize.height !== null;
  return isBox && mode !== undefined && mode !== 'fill' ? { ...rest, mode } : rest;
}
