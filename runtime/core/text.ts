/**
 * Makes people's texts safe to store and show: removes control and bidirectional characters, trims, cuts by characters.
 * Spec: File (title, alt_text); Limits, title / alt_text.
 */
import { cutText } from './cut-text.ts';

/**
 * Control characters, and those that change the direction of the text around them: the inside of a
 * character class, as every reader of the documents' patterns understands it.
 */
export const UNSAFE_CHARACTERS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
const UNSAFE_CHARACTER = new RegExp(`[${UNSAFE_CHARACTERS}]`, 'gu');

/**
 * Cleans a text and cuts it to `maxCharacters` characters (Unicode code points), before any letter
 * or emoji that the cut would split. Null when nothing is left.
 */
export function cleanText(text: string, maxCharacters: number): string | null {
  const trimmed = stripText(text).trim();
  return cutWhole(trimmed, maxCharacters).trimEnd() || null;
}

/** Removes control and bidirectional characters; a lone surrogate becomes U+FFFD. */
export function stripText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_CHARACTER, '');
}

/** Whether a text contains a character that `stripText` would remove or replace. */
export function hasUnsafeCharacters(text: string): boolean {
  return stripText(text) !== text;
}

/** Whether PostgreSQL can store a text unchanged: no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

let segmenter: Intl.Segmenter | undefined;

/**
 * Created for the first text that is cut: it takes as long to load as a hundred modules, and most
 * processes cut no text.
 */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** A text that is one endless grapheme is nevertheless cut by code point. */
function cutWhole(text: string, maxCharacters: number): string {
  const cut = cutText(text, maxCharacters);
  if (cut.length === text.length) return cut;
  // One code point beyond the cut shows whether the last grapheme continues.
  const beyond = cutText(text, countCharacters(cut) + 1);
  const start = graphemesOf(beyond).containing(cut.length)?.index ?? 0;
  return start === 0 ? cut : cut.slice(0, start);
}

/** How many characters (code points) a text has. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
