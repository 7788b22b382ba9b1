/**
 * What people write, made safe to store and to show: control and bidirectional characters out,
 * trimmed, cut by characters. Spec: File (title, alt_text); Limits, title / alt_text.
 */

/** Control characters, and those that change the direction of the text around them; a class that RE2 knows too. */
export const UNSAFE_CHARACTER =
  /[\p{Cc}\u{061C}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/**
 * Cleans a text and cuts it to `maxCharacters` characters (Unicode code points), before a letter or
 * emoji that would be cut in pieces. Null where nothing is left.
 */
export function cleanText(text: string, maxCharacters: number): string | null {
  const trimmed = stripText(text).trim();
  return cutWhole(trimmed, maxCharacters).trimEnd() || null;
}

/** Removes control and bidirectional characters; a lone surrogate becomes U+FFFD. */
export function stripText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_CHARACTER, '');
}

/** Whether a text holds a character that `stripText` would remove or replace. */
export function hasUnsafeCharacters(text: string): boolean {
  return stripText(text) !== text;
}

/** Whether PostgreSQL can hold a text as it is: no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The first `maxCharacters` characters of a text, by code point. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return [...text].slice(0, maxCharacters).join('');
}

let segmenter: Intl.Segmenter | undefined;

/** Made for the first text that is cut: it takes as long as a hundred modules, and most processes cut none. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** A text that is one endless grapheme is cut by code point all the same. */
function cutWhole(text: string, maxCharacters: number): string {
  const cut = cutText(text, maxCharacters);
  if (cut.length === text.length) return cut;
  // A code point behind the cut tells whether the last grapheme goes on there.
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
