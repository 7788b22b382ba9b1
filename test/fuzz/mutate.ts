/** Mutates inputs as hostile senders and broken programs do. A seed determines the mutations. */
import type { Input } from './target.ts';

/** Returns a random integer from 0 to `below` - 1. */
export type Chance = (below: number) => number;

/** How to cut, join and change one kind of input, and pieces that are worth inserting anywhere. */
type Material<Kind extends Input> = {
  cut(from: Kind, start: number, end?: number): Kind;
  join(parts: readonly Kind[]): Kind;
  flip(one: Kind, chance: Chance): Kind;
  /** A number near the limits of integer types. */
  number(chance: Chance): Kind;
  words(from: Kind): Kind[];
  asText(from: Kind): string;
  fromText(text: string): Kind;
  pieces: readonly Kind[];
};

const NUMBERS = [
  0, 1, 2, 7, 8, 16, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 0x7fff_ffff,
];
const LARGE = [...NUMBERS, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

const texts: Material<string> = {
  cut: (from, start, end) => from.slice(start, end),
  join: (parts) => parts.join(''),
  flip: (one, chance) => String.fromCharCode(one.charCodeAt(0) ^ (1 << chance(8))),
  number: (chance) =>
    pick(['-1', '-0', '1e9', '9007199254740993', '0.1', '00', ...LARGE.map(String)], chance),
  asText: (from) => from,
  fromText: (text) => text,
  words: (from) => from.match(/[\w.-]{2,24}|[^\w\s]{2,6}/g) ?? [],
  pieces: [
    ...'\0\t\n\r "\'\\/%&=?#@:;,.<>[]{}()*+-_~^|$0aZ'.split(''),
    ...['..', '//', '%00', '%2e', '%25', '\r\n', '\\u0000', '\\ud800', '__proto__', 'constructor'],
    ...[
      'null',
      'true',
      '{}',
      '[]',
      '""',
      '&#0;',
      '<!--',
      ']]>',
      'url(',
      '/*',
      '*/',
      '@',
      'é',
      'ß',
      'İ',
    ],
    ...[
      '\u0000',
      '\u0301',
      '\u200b',
      '\u202e',
      '\u212a',
      '\u2028',
      '\ud800',
      '\udc00',
      '\ufeff',
      '\u{1f600}',
    ],
  ],
};

const bytes: Material<Buffer> = {
  cut: (from, start, end) => from.subarray(start, end),
  join: (parts) => Buffer.concat(parts),
  flip: (one, chance) => Buffer.from([(one[0] ?? 0) ^ (1 << chance(8))]),
  number: (chance) => {
    const size = pick([1, 2, 4, 8], chance);
    const written = Buffer.alloc(8);
    const value = BigInt(pick(LARGE, chance)) - BigInt(chance(2));
    written.writeBigInt64BE(value);
    const cut = written.subarray(8 - size);
    return chance(2) === 0 ? cut : cut.reverse();
  },
  asText: (from) => from.toString('latin1'),
  fromText: (text) => Buffer.from(text, 'latin1'),
  words: (from) =>
    (from.toString('latin1').match(/[ -~]{4,24}/g) ?? []).map((word) =>
      Buffer.from(word, 'latin1'),
    ),
  pieces: [
    [0],
    [255],
    [0, 0, 0, 0],
    [255, 255, 255, 255],
    [0xff, 0xd8],
    [0x80],
    [0x7f],
    [10],
    [0xc3],
    [0xef, 0xbb, 0xbf],
  ].map((piece) => Buffer.from(piece)),
};

/** Returns a function that mutates an input. It also inserts words and halves of the seeds. */
export function createMutator(seeds: readonly Input[], length_max: number) {
  const isText = (input: Input): input is string => typeof input === 'string';
  const isBytes = (input: Input): input is Buffer => typeof input !== 'string';
  const mutateText = mutator(texts, { seeds: seeds.filter(isText), length_max });
  const mutateBytes = mutator(bytes, { seeds: seeds.filter(isBytes), length_max });
  return (input: Input, chance: Chance): Input =>
    isText(input) ? mutateText(input, chance) : mutateBytes(input, chance);
}

function mutator<Kind extends Input>(
  material: Material<Kind>,
  { seeds, length_max }: { seeds: readonly Kind[]; length_max: number },
) {
  const { cut, join, flip, number, words, pieces, asText, fromText } = material;
  const dictionary = [...pieces, ...seeds.flatMap(words).slice(0, 2000)];
  const put = (into: Kind, at: number, [removed, part]: readonly [number, Kind]) =>
    join([cut(into, 0, at), part, cut(into, at + removed)]);
  const once = (input: Kind, chance: Chance): Kind => {
    const at = chance(input.length + 1);
    const span = 1 + chance(chance(4) === 0 ? input.length + 1 : 16);
    const other = seeds[chance(seeds.length)] ?? input;
    switch (chance(12)) {
      case 0:
      case 1:
        return at === input.length
          ? input
          : put(input, at, [1, flip(cut(input, at, at + 1), chance)]);
      case 2:
        return put(input, at, [0, pick(dictionary, chance)]);
      case 3: {
        const word = pick(dictionary, chance);
        return put(input, at, [word.length, word]);
      }
      case 4:
        return put(input, at, [span, cut(input, 0, 0)]);
      case 5: {
        const times = chance(8) === 0 ? 1 + chance(300) : 1 + chance(3);
        return put(input, at, [0, join(Array<Kind>(times).fill(cut(input, at, at + span)))]);
      }
      case 6:
        return join([cut(input, 0, at), cut(other, chance(other.length + 1))]);
      case 7: {
        const from = chance(other.length + 1);
        return put(input, at, [chance(2) * span, cut(other, from, from + span)]);
      }
      case 8:
        return cut(input, 0, at);
      case 9:
      case 10:
        return fromText(changeValue(asText(input), chance));
      default: {
        const value = number(chance);
        return put(input, at, [chance(4) === 0 ? 0 : value.length, value]);
      }
    }
  };
  return (input: Kind, chance: Chance): Kind => {
    let mutated = input;
    for (let times = 1 + chance(chance(3) === 0 ? 8 : 2); times > 0; times -= 1) {
      mutated = cut(once(mutated, chance), 0, length_max);
    }
    return mutated;
  };
}

/** Matches JSON values; of arrays and objects only the innermost. */
const VALUE = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\b(?:true|false|null)\b|\[[^[\]]*\]|\{[^{}]*\}/g;
const VALUES = [
  'null',
  '0',
  '-1',
  '1.5',
  '1e400',
  'true',
  '""',
  '"a"',
  '[]',
  '[null]',
  '{}',
  '{"a":1}',
];

/** Replaces a value by another, usually of another type. JSON stays JSON. */
function changeValue(text: string, chance: Chance): string {
  const found = [...text.matchAll(VALUE)];
  if (found.length === 0) return text;
  const old = pick(found, chance);
  const value = chance(3) === 0 ? pick(found, chance)[0] : pick(VALUES, chance);
  return text.slice(0, old.index) + value + text.slice(old.index + old[0].length);
}

function pick<Item>(items: readonly Item[], chance: Chance): Item {
  return items[chance(items.length)] as Item;
}
