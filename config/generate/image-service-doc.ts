/**
 * Fills the tables of docs/image-service.md from operator/image-service: the fields of an ImageService, the reasons of
 * its conditions, and what each process receives. With --check it writes nothing and fails when the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { structural } from '../../operator/crd.ts';
import { reasons } from '../../operator/image-service/conditions.ts';
import { imageServiceSpec } from '../../operator/image-service/schema.ts';
import { fillPage } from './reference/fill-page.ts';

type Schema = {
  type?: string;
  description?: string;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Record<string, Schema>;
  items?: Schema;
};

const file = fileURLToPath(new URL('../../docs/image-service.md', import.meta.url));
const page = readFileSync(file, 'utf8');
const { text, unknown } = fillPage(
  page,
  new Map([
    ['fields', printFields],
    ['reasons', printReasons],
  ]),
);

if (unknown.length > 0) throw new Error(`docs/image-service.md asks for ${unknown.join(', ')}`);
if (!process.argv.includes('--check')) {
  if (text !== page) writeFileSync(file, text);
} else if (text !== page) {
  console.error('docs/image-service.md is stale: run make generate');
  process.exitCode = 1;
}

function printFields(): string {
  const head = '| field | type | meaning |\n|---|---|---|';
  return [head, ...rowsOf(structural(imageServiceSpec), '')].join('\n');
}

function rowsOf(schema: Schema, under: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = `${under}${name}`;
    const need = schema.required?.includes(name) ? ', required' : '';
    const meaning = (child.description ?? '').replaceAll('|', '\\|').replaceAll('<', '&lt;');
    const row = `| \`${path}\` | ${typeName(child)}${need} | ${meaning} |`;
    return [row, ...rowsOf(child, `${path}.`), ...rowsOf(child.items ?? {}, `${path}[].`)];
  });
}

function typeName({ type = 'any', enum: words, items }: Schema): string {
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
  return items === undefined ? type : `list of ${items.type ?? 'any'}`;
}

function printReasons(): string {
  const head = '| reason | meaning | comes to |\n|---|---|---|';
  const rows = Object.entries(reasons).map(
    ([reason, { outcome, meaning }]) => `| \`${reason}\` | ${meaning} | ${outcome} |`,
  );
  return [head, ...rows].join('\n');
}
