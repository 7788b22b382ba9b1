/**
 * The pieces that the schemas of all kinds are made of. The message of each piece is the words that
 * say what was expected; whoever reports a fault adds the path before them and what stood there after.
 * Bounds stand on every string, number and list, as the API server's validation rules need them.
 */
import { z } from 'zod';
import { parseChain } from '../runtime/core/delivery/chain.ts';
import {
  SLASHED_CHAIN,
  SLASHED_CHAIN_PRESET,
  SLASHED_CHAIN_TWICE,
} from '../runtime/core/delivery/chain-pattern.ts';
import {
  FILE_SLUG_LENGTH_MAX,
  NAME_LENGTH_MAX,
  PROJECT_SLUG_LENGTH_MAX,
  TRANSFORM_CHAIN_LENGTH_MAX,
} from '../runtime/core/limits.ts';
import { unreadPart } from '../runtime/core/resources/chain.ts';
import { countCharacters, hasUnsafeCharacters, UNSAFE_CHARACTER } from '../runtime/core/text.ts';

/** What Kubernetes allows for the name of an object: a DNS subdomain, labels with dots between them. */
const OBJECT_NAME_LENGTH_MAX = 253;
export const OBJECT_NAME_PATTERN = /^[a-z0-9]+((\.|-+)[a-z0-9]+)*$/;
const OBJECT_NAME_OR_NONE_PATTERN = /^([a-z0-9]+((\.|-+)[a-z0-9]+)*)?$/;

const ROTATION_TRIGGER_LENGTH_MAX = 128;

type TextRule = { min?: 0 | 1; max: number; pattern?: RegExp };

/** A text bounded in characters, as the API server counts them; `expected` says in words what it should be. */
export function text(expected: string, { min = 1, max, pattern }: TextRule) {
  const bounded = z
    .string({ error: expected })
    .min(min, { error: expected })
    .refine((value) => countCharacters(value) <= max, { error: expected })
    .meta({ maxLength: max });
  if (pattern !== undefined) {
    return bounded.regex(pattern, { error: expected }).meta(checked(matching(pattern), expected));
  }
  return min === 0 ? bounded : bounded.meta(checked("self != ''", expected));
}

/** What the API server refuses by a rule of ours, and says in our words: of a pattern it would show the pattern. */
export function checked(rule: string, expected: string) {
  return { 'x-kubernetes-validations': [{ rule, message: `must be ${expected}` }] };
}

/** A rule beside those that a piece has; `meta` alone would put it in their place. */
export function alsoChecked<Piece extends z.ZodType>(piece: Piece, rule: Rule): Piece {
  const before = (piece.meta()?.['x-kubernetes-validations'] ?? []) as readonly Rule[];
  return piece.meta({ 'x-kubernetes-validations': [...before, rule] });
}

type Rule = { rule: string; message: string };

export function matching({ source }: RegExp): string {
  return `self.matches(r'${source.replaceAll('\\/', '/')}')`;
}

/** One of a few words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: words.join(' or ') });
}

/** A whole number between two bounds. */
export function integer(expected: string, { min, max }: { min: number; max: number }) {
  return z
    .int({ error: expected })
    .min(min, { error: expected })
    .max(max, { error: expected })
    .meta(checked(`${min} <= self && self <= ${max}`, expected));
}

/** Fields under one heading; a field that is not named here is refused. */
export function group<Shape extends z.ZodRawShape>(expected: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `only the fields ${Object.keys(shape).join(', ')}`
        : expected,
  });
}

type ListRule = { expected: string; max: number };

/**
 * A list of which an empty one says something else than none. It is applied as a whole: of a list that is merged item by
 * item the API server takes an empty one for none.
 */
function whole(same: string, words: string) {
  return {
    'x-kubernetes-list-type': 'atomic',
    'x-kubernetes-validations': [
      { rule: `self.all(a, self.exists_one(b, ${same}))`, message: `each ${words} only once` },
    ],
  };
}

/**
 * A list in which no two items may be the same. The API server counts what a rule costs: `==` by the letters of both,
 * `in` by the items of the list alone, so that 256 long texts can be compared with one another.
 */
export function distinct<Item extends z.ZodType<string>>(item: Item, rule: ListRule) {
  return z
    .array(item, { error: rule.expected })
    .max(rule.max, { error: rule.expected })
    .superRefine((items, context) => reportRepeats(items, [], context))
    .meta(whole('b in [a]', 'item'));
}

/** A list of items with names of their own, each name once; an empty one says as much as none. */
export function named<Item extends z.ZodType<{ name: string }>>(item: Item, rule: ListRule) {
  const meta = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  return namedItems(item, rule).meta(meta);
}

/** The same, where an empty one says that there are to be none. */
export function namedWhole<Item extends z.ZodType<{ name: string }>>(item: Item, rule: ListRule) {
  return namedItems(item, rule).meta(whole('a.name == b.name', 'name'));
}

function namedItems<Item extends z.ZodType<{ name: string }>>(item: Item, rule: ListRule) {
  return z
    .array(item, { error: rule.expected })
    .max(rule.max, { error: rule.expected })
    .superRefine((items, context) =>
      reportRepeats(
        items.map((each) => each.name),
        ['name'],
        context,
      ),
    );
}

function reportRepeats(
  keys: readonly string[],
  under: readonly string[],
  context: z.RefinementCtx,
): void {
  keys.forEach((key, index) => {
    const first = keys.indexOf(key);
    if (first === index) return;
    const message = `each only once, and this repeats item ${first}`;
    context.addIssue({ code: 'custom', path: [index, ...under], message });
  });
}

/** The name of an object; `what` it is the name of goes before the words that say which letters it may have. */
export function objectName(what: string) {
  return text(sayObjectName(what), { max: OBJECT_NAME_LENGTH_MAX, pattern: OBJECT_NAME_PATTERN });
}

/** The same, where an empty one says that there is to be none, as with `storageClassName` of Kubernetes. */
export function objectNameOrNone(what: string) {
  const shape = {
    min: 0,
    max: OBJECT_NAME_LENGTH_MAX,
    pattern: OBJECT_NAME_OR_NONE_PATTERN,
  } as const;
  return text(sayObjectName(`empty for none, or ${what}`), shape);
}

function sayObjectName(what: string): string {
  return `${what}: a-z, 0-9, "-" and ".", with a letter or digit at the ends and around each "."`;
}

/** The name of another resource in the same namespace. */
export function reference(kind: string) {
  return group(`{ name: <name of a ${kind}> }`, {
    name: objectName(`the name of a ${kind}`).describe('Its name, in the same namespace.'),
  });
}

export const projectRef = reference('Project')
  .describe('The project that this belongs to. It cannot be changed later.')
  .meta({
    'x-kubernetes-validations': [
      { rule: 'self.name == oldSelf.name', message: '`spec.projectRef.name` is immutable' },
    ],
  });

const chainExpected = 'a transform chain, for example resize/640x480/format/webp';
const unnestedExpected = 'a transform chain without preset:, for presets do not nest';

/** The delivery grammar in the API server's words; they refuse nothing that `parseChain` reads. */
const chainRules = [
  { rule: `('/' + self).matches('${SLASHED_CHAIN}')`, message: `must be ${chainExpected}` },
  {
    rule: `!('/' + self).matches('${SLASHED_CHAIN_TWICE}')`,
    message: 'must have each operation of a transform chain only once',
  },
];

/** A transform chain that the delivery grammar can parse. */
export const transformChain = text(chainExpected, { max: TRANSFORM_CHAIN_LENGTH_MAX })
  .refine((chain) => parseChain(chain) !== undefined, {
    error: ({ input }) => `${chainExpected} (${unreadPart(String(input))} cannot be read)`,
  })
  .meta({ 'x-kubernetes-validations': chainRules });

/** The chain of a resolution preset. */
export const presetChain = alsoChecked(
  transformChain.refine((chain) => parseChain(chain)?.preset === undefined, {
    error: unnestedExpected,
  }),
  {
    rule: `!('/' + self).contains('${SLASHED_CHAIN_PRESET}')`,
    message: `must be ${unnestedExpected}`,
  },
);

const nameExpected = `a name of 1 to ${NAME_LENGTH_MAX} characters, without space around it`;
const SPACE = '[\\pZ\\x{feff}]';
const UNSAFE = UNSAFE_CHARACTER.source.replaceAll('\\u{', '\\x{');

export const displayName = text(nameExpected, { max: NAME_LENGTH_MAX })
  .refine((name) => name === name.trim() && !hasUnsafeCharacters(name), { error: nameExpected })
  .meta(
    checked(
      `self != '' && !self.matches(r'^${SPACE}|${SPACE}$|${UNSAFE}')`,
      `${nameExpected}, and without control characters`,
    ),
  );

export const projectSlug = text(
  `a DNS label: lower case letters, digits and "-", at most ${PROJECT_SLUG_LENGTH_MAX}`,
  {
    max: PROJECT_SLUG_LENGTH_MAX,
    pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  },
);

export const fileSlug = text(
  `the slug of a file: lower case letters, digits, ".", "_" and "-", at most ${FILE_SLUG_LENGTH_MAX}`,
  { max: FILE_SLUG_LENGTH_MAX, pattern: /^[a-z0-9][a-z0-9._-]*$/ },
);

/** What a row cannot hold would fail each pass without a word in a condition: U+0000, and half of a surrogate pair. */
export const rotationTrigger = text(
  `a text of 1 to ${ROTATION_TRIGGER_LENGTH_MAX} characters without U+0000, in quotes where it looks like a number`,
  { max: ROTATION_TRIGGER_LENGTH_MAX, pattern: /^[^\0\p{Cs}]+$/u },
);
