/** The first `maxCharacters` characters of a text, by code point. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // A character has at most two units: the rest of a long text is not spread into a list.
  return [...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join('');
}
