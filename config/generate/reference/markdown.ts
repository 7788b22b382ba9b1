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

// Outside `code`, Markdown reads <word> as a tag and displays nothing.
function printCell(cell: string): string {
  const parts = cell.replaceAll(/\s*\n\s*/g, ' ').split(/(`[^`]*`)/);
  const shown = parts.map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')));
  return shown.join('').replaceAll('|', '\\|');
}
