/** The Markdown that the generated tables need. */

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map(() => '---');
  return `${[head, rule, ...rows].map((cells) => `| ${cells.map(printCell).join(' | ')} |`).join('\n')}\n`;
}

export function code(text: string | number): string {
  return `\`${text}\``;
}

/** `a`, `b`, `c`. */
export function codes(texts: readonly (string | number)[]): string {
  return texts.map(code).join(', ');
}

function printCell(cell: string): string {
  return escaped(cell.replaceAll(/\s*\n\s*/g, ' ')).replaceAll('|', '\\|');
}

/** Outside code spans, Markdown would read `<word>` as a tag. */
export function escaped(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts.map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;'))).join('');
}
