/**
 * The pages on error codes that the Link header of a refusal points to, as HTML without scripts, with the same text as
 * docs/errors. Spec: Errors.
 */
import { STATUS_CODES } from 'node:http';
import { errorEntryTitle, errorGroups } from '../../core/error-help/error-groups.ts';
import { type ErrorEntry, errorPages } from '../../core/error-help/error-pages.ts';
import { escapeHtml } from '../escape-html.ts';

/** The page of a code; undefined for an unknown code. */
export function printErrorPage(code: string): string | undefined {
  const entries = errorPages.get(code);
  if (entries === undefined) return undefined;
  const content = `<h1><code>${escapeHtml(code)}</code></h1>\n${entries.map(printEntry).join('\n')}`;
  return printPage({ title: code, content });
}

/** Every code, by surface and status. */
export function printErrorIndex(): string {
  const groups = errorGroups().map(({ title, entries }) => {
    const rows = entries.map(
      ({ code, message }) =>
        `<dt><a href="/docs/errors/${code}"><code>${code}</code></a></dt><dd>${inline(message)}</dd>`,
    );
    return `<section><h2>${escapeHtml(title)}</h2>\n<dl>${rows.join('\n')}</dl></section>`;
  });
  const content = `<h1>Error codes</h1>\n<p>${INTRODUCTION}</p>\n${groups.join('\n')}`;
  return printPage({ title: 'Error codes', content });
}

const INTRODUCTION =
  'Every refusal has a code, which programs branch on, and a message for people. Each has a page with its cause and what to do.';

function printPage({ title, content }: { title: string; content: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Tintype</title>
<link rel="stylesheet" href="/docs/assets/errors.css">
</head>
<body>
<header><nav aria-label="Documents"><a href="/docs">Tintype API</a> <a href="/docs/errors">Error codes</a></nav></header>
<main>
${content}
</main>
</body>
</html>
`;
}

function printEntry(entry: ErrorEntry): string {
  const { message, cause, steps } = entry;
  return `<section>
<h2>${escapeHtml(errorEntryTitle(entry))}${reasonOf(entry)}</h2>
<p class="message">${inline(message)}</p>
<h3>Cause</h3>
<p>${inline(cause)}</p>
${printExample(entry)}<h3>What to do</h3>
<ol>${steps.map((step) => `<li>${inline(step)}</li>`).join('\n')}</ol>
</section>`;
}

/** The reason phrase, such as ` Not Found`, if the code has a single status. */
function reasonOf({ statuses: [status, ...others] }: ErrorEntry): string {
  const reason = others.length === 0 ? STATUS_CODES[status ?? 0] : undefined;
  return reason === undefined ? '' : ` ${escapeHtml(reason)}`;
}

function printExample({ example, note }: ErrorEntry): string {
  if (example === undefined) return '';
  const lines = JSON.stringify(example, null, 2).split('\n');
  const json = lines.map((line) => `<span>${escapeHtml(line)}</span>`).join('');
  const said = note === undefined ? '' : `<p>${inline(note)}</p>\n`;
  return `<h3>Example</h3>\n<pre tabindex="0"><code>${json}</code></pre>\n${said}`;
}

/** A sentence as HTML, with backtick spans as code. */
function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}
