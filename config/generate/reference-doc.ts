/** Fills the generated tables of docs/reference/*.md from constants in the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { writeGenerated } from '../write-generated.ts';
import { fillPage } from './reference/fill-page.ts';
import { sections } from './reference/sections.ts';

const folder = new URL('../../docs/reference/', import.meta.url);
const pages = new Map<string, string>();
const used = new Set<string>();

for (const name of readdirSync(folder).filter((file) => file.endsWith('.md'))) {
  const page = fillPage(readFileSync(new URL(name, folder), 'utf8'), sections);
  for (const section of page.used) used.add(section);
  for (const section of page.unknown)
    complain(`docs/reference/${name}: no section is called ${section}`);
  pages.set(`docs/reference/${name}`, page.text);
}
writeGenerated(pages);

for (const section of sections.keys()) {
  if (!used.has(section)) complain(`docs/reference: no page has <!-- generated: ${section} -->`);
}

function complain(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}
