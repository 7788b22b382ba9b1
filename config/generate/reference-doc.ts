/**
 * Fills the generated tables of docs/reference/*.md from constants in the code. With --check it writes nothing and
 * fails, naming each stale page.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillPage } from './reference/fill-page.ts';
import { sections } from './reference/sections.ts';

const folder = fileURLToPath(new URL('../../docs/reference', import.meta.url));
const isCheck = process.argv.includes('--check');
const used = new Set<string>();

for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
  const file = join(folder, name);
  const present = readFileSync(file, 'utf8');
  const page = fillPage(present, sections);
  for (const section of page.used) used.add(section);
  for (const section of page.unknown)
    complain(`docs/reference/${name}: no section is called ${section}`);
  if (page.text === present) continue;
  if (isCheck) complain(`docs/reference/${name} is stale: run make generate`);
  else writeFileSync(file, page.text);
}

for (const section of sections.keys()) {
  if (!used.has(section)) complain(`docs/reference: no page has <!-- generated: ${section} -->`);
}

function complain(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}
