/** The pages of docs/errors as Markdown: one per code, and the index. */

import { errorEntryTitle, errorGroups } from '../../../runtime/core/error-help/error-groups.ts';
import { type ErrorEntry, errorPages } from '../../../runtime/core/error-help/error-pages.ts';
import { escaped, table } from '../reference/markdown.ts';

const ORIGIN = '<!-- Written by make generate from runtime/core/error-help: change it there. -->';

export function errorPageText(entries: readonly ErrorEntry[]): string {
  const code = entries[0]?.code ?? '';
  const sections = entries.map(sectionText);
  const links = '[All codes](README.md) · [Errors in the reference](../reference/errors.md)';
  return `${[`# ${code}`, ORIGIN, ...sections, links].join('\n\n')}\n`;
}

function sectionText(entry: ErrorEntry): string {
  const { message, cause, steps } = entry;
  return [
    `## ${errorEntryTitle(entry)}`,
    `> ${escaped(message)}`,
    '### Cause',
    escaped(cause),
    ...exampleText(entry),
    '### What to do',
    steps.map((step, at) => `${at + 1}. ${escaped(step)}`).join('\n'),
  ].join('\n\n');
}

function exampleText({ example, note }: ErrorEntry): string[] {
  if (example === undefined) return [];
  const json = `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``;
  return ['### Example', json, ...(note === undefined ? [] : [note])];
}

export function errorIndexText(): string {
  const groups = errorGroups().map(
    ({ title, entries }) => `## ${title}\n\n${table(['code', 'message'], entries.map(rowOf))}`,
  );
  return `${['# Error codes', ORIGIN, INTRODUCTION, ...groups.map((group) => group.trimEnd())].join('\n\n')}\n`;
}

const INTRODUCTION = `This section has a page for each of ${errorPages.size} codes: its cause, an example, and what to do. The API serves the same pages at \`/docs/errors\`, and the \`Link\` header of every refusal points to its page.`;

function rowOf({ code, message }: ErrorEntry): string[] {
  return [`[\`${code}\`](${code}.md)`, message];
}
