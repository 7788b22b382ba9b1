/**
 * The building blocks of all kinds' schemas. The message of each says what was expected; whoever reports a fault adds
 * the path before it and the actual value after it. Every string, number and list has bounds, as the API server's
 * validation rules require.
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
import { unparsedPart } from '../runtime/core/resources/chain.ts';
import { countCharacters, hasUnsafeCharacters, UNSAFE_CHARACTERS } from '../runtime/core/text.ts';

/** Maximum length of an object's name in Kubernetes: a DNS subdomain, labels separated by dots. */
const OBJECT_NAME_LENGTH_MAX = 253;
export const OBJECT_NAME_PATTERN = /^[a-z0-9]+((\.|-+)[a-z0-9]+)*$/;
const OBJECT_NAME_OR_NONE_PATTERN = /^([a-z0-9]+((\.|-+)[a-z0-9]+)*)?$/;

const ROTATION_TRIGGER_LENGTH_MAX = 128;

type TextRule = { min?: 0 | 1; max: number; pattern?: RegExp };

/** A text whose length is bounded in characters, as in the API server; `expected` describes it. */
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

/** A rule with a message of ours: for a pattern the API server would show the pattern. */
export function checked(rule: string, expected: string) {
  return { 'x-kubernetes-validations': [{ rule, message: `must be ${expected}` }] };
}

/** Adds a rule to those that a piece has; `meta` alone would replace them. */
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

/** Fields under one heading; an unknown field is refused. */
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
 * For a list whose empty value differs from no value. The list is applied as a whole: when the API
 * server merges a list item by item, it treats an empty one as absent.
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
 * A list without duplicates. The API server bounds a rule's cost: `==` costs the letters of both
 * sides, `in` only the list's items, so 256 long texts can be compared.
 */
export function distinct<Item extends z.ZodType<string>>(item: Item, rule: ListRule) {
  return z
    .array(item, { error: rule.expected })
    .max(rule.max, { error: rule.expected })
    .superRefine((items, context) => reportRepeats(items, [], context))
    .meta(whole('b in [a]', 'item'));
}

/** A list of named items, each name once; an empty list means the same as none. */
export function named<Item extends z.ZodType<{ name: string }>>(item: Item, rule: ListRule) {
  const meta = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  return namedItems(item, rule).meta(meta);
}

/** The same, where an empty list means that there are to be none. */
export function namedAtomic<Item extends z.ZodType<{ name: string }>>(item: Item, rule: ListRule) {
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

/** An object's name; the message is `what`, then the letters that the name may have. */
export function objectName(what: string) {
  return text(describeObjectName(what), {
    max: OBJECT_NAME_LENGTH_MAX,
    pattern: OBJECT_NAME_PATTERN,
  });
}

/** The same, where an empty name means none, like `storageClassName` in Kubernetes. */
export function objectNameOrNone(what: string) {
  const shape = {
    min: 0,
    max: OBJECT_NAME_LENGTH_MAX,
    pattern: OBJECT_NAME_OR_NONE_PATTERN,
  } as const;
  return text(describeObjectName(`empty for none, or ${what}`), shape);
}

function describeObjectName(what: string): string {
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
const unnestedExpected = 'a transform chain without preset:, as presets do not nest';

/** The delivery grammar as API server rules; they accept everything that `parseChain` reads. */
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
    error: ({ input }) => `${chainExpected} (${unparsedPart(String(input))} cannot be read)`,
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
/** As RE2 writes them. */
const UNSAFE = `[${UNSAFE_CHARACTERS.replaceAll(/\\u([0-9a-f]{4})/g, '\\x{$1}')}]`;

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

/**
 * U+0000 and half surrogate pairs do not fit a row: passes would fail, unreported by conditions.
 */
export const rotationTrigger = text(
  `a text of 1 to ${ROTATION_TRIGGER_LENGTH_MAX} characters without U+0000, in quotes where it looks like a number`,
  { max: ROTATION_TRIGGER_LENGTH_MAX, pattern: /^[^\0\p{Cs}]+$/u },
);
