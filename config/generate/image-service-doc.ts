/**
 * Fills the tables of docs/image-service.md from operator/image-service: the fields of an ImageService, the reasons of
 * its conditions, and what each process receives.
 */
import { readFileSync } from 'node:fs';
import { structural } from '../../operator/crd.ts';
import { reasons } from '../../operator/image-service/conditions.ts';
import { imageServiceSpec } from '../../operator/image-service/schema.ts';
import { writeGenerated } from '../write-generated.ts';
import { fillPage } from './reference/fill-page.ts';
import { code, codes, table } from './reference/markdown.ts';

type Schema = {
  type?: string;
  description?: string;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Record<string, Schema>;
  items?: Schema;
};

const page = readFileSync(new URL('../../docs/image-service.md', import.meta.url), 'utf8');
const { text, unknown } = fillPage(
  page,
  new Map([
    ['fields', printFields],
    ['reasons', printReasons],
  ]),
);

if (unknown.length > 0) throw new Error(`docs/image-service.md asks for ${unknown.join(', ')}`);
writeGenerated(new Map([['docs/image-service.md', text]]));

function printFields(): string {
  return table(['field', 'type', 'meaning'], rowsOf(structural(imageServiceSpec), ''));
}

function rowsOf(schema: Schema, under: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = `${under}${name}`;
    const need = schema.required?.includes(name) ? ', required' : '';
    const row = [code(path), `${typeName(child)}${need}`, child.description ?? ''];
    return [row, ...rowsOf(child, `${path}.`), ...rowsOf(child.items ?? {}, `${path}[].`)];
  });
}

function typeName({ type = 'any', enum: words, items }: Schema): string {
  if (words !== undefined) return codes(words);
  return items === undefined ? type : `list of ${items.type ?? 'any'}`;
}

function printReasons(): string {
  const rows = Object.entries(reasons).map(([reason, { outcome, meaning }]) => [
    code(reason),
    meaning,
    outcome,
  ]);
  return table(['reason', 'meaning', 'comes to'], rows);
}
