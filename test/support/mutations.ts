// Small changes to a text, as an attacker or a broken proxy would make to a token.
import fc from 'fast-check';

/** Texts that differ from `original` in one place, or are truncated, doubled or in another case. */
export function mutationsOf(original: string): fc.Arbitrary<string> {
  const at = fc.nat({ max: Math.max(0, original.length - 1) });
  const character = fc.constantFrom(...'abcXYZ0189-_=.,|/+%&?: \n\0', 'é', '\u200b');
  const replaced = fc.tuple(at, character).map(([i, c]) => splice(original, i, [1, c]));
  const inserted = fc.tuple(at, character).map(([i, c]) => splice(original, i, [0, c]));
  const deleted = at.map((i) => splice(original, i, [1, '']));
  const whole = fc.constantFrom(
    '',
    ` ${original}`,
    `${original}=`,
    `${original}${original}`,
    original.toUpperCase(),
    original.toLowerCase(),
    [...original].reverse().join(''),
  );
  return fc
    .oneof(replaced, inserted, deleted, whole, fc.string())
    .filter((mutated) => mutated !== original);
}

function splice(text: string, at: number, [remove, insert]: [number, string]): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}
