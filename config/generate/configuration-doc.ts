/**
 * Writes docs/configuration.md from the table in runtime/platform/config-variables.ts. With --check it writes nothing
 * and fails when the document is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Variable, variables } from '../../runtime/platform/config-variables.ts';

const file = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));

const head = `# Configuration

<!-- Written by \`make generate\` from runtime/platform/config-variables.ts. Do not edit. -->

Environment variables configure Tintype. A wrong value stops the start with the name of the variable,
what was expected and an example. An empty variable counts as unset. For a variable whose name is not in this
table, such as a misspelled one, the process logs a warning at the start. White space around a value is ignored;
around a secret it is refused. \`tintype up\` sets the variables that it needs; you can override each of them.

| variable | meaning | default | example |
|---|---|---|---|
`;

const text = head + Object.values<Variable>(variables).map(printRow).join('');
const isStale = read() !== text;
if (!process.argv.includes('--check')) {
  if (isStale) writeFileSync(file, text);
} else if (isStale) {
  console.error('docs/configuration.md is stale: run make generate');
  process.exitCode = 1;
}

function printRow({ name, description, default: value, example }: Variable): string {
  const shown = value === undefined || value === '' ? '' : `\`${value}\``;
  return `| \`${name}\` | ${cell(description)} | ${shown} | \`${cell(example)}\` |\n`;
}

function cell(words: string): string {
  return words.replaceAll('|', '\\|');
}

function read(): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
