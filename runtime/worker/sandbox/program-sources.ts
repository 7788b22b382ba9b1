/**
 * The sources of a decoder's program as JavaScript: read and rid of their types once, by whoever starts decoders,
 * instead of by each of them. boot.js takes them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { stripTypes } from '../../platform/strip-types.ts';

/** File descriptor that a decoder is handed them on. */
export const SOURCES_FD = 5;

const prepared = new Map<string, Buffer>();

/** JSON: `[[url, source], …]` of the entry and all that it imports from us; without what is not there. */
export function readProgramSources(entry: URL): Buffer {
  const known = prepared.get(entry.href);
  if (known !== undefined) return known;
  const sources = new Map<string, string>();
  collect(entry, sources);
  const printed = Buffer.from(JSON.stringify([...sources]));
  prepared.set(entry.href, printed);
  return printed;
}

/** Of imports and exports alike. One in a comment costs a look at a file. */
const IMPORTED = /\b(?:from|import)\s+'(\.[^']+\.ts)'/g;

function collect(url: URL, sources: Map<string, string>): void {
  if (sources.has(url.href) || !existsSync(url)) return;
  const source = stripTypes(readFileSync(url, 'utf8'));
  sources.set(url.href, source);
  for (const [, specifier = ''] of source.matchAll(IMPORTED)) {
    collect(new URL(specifier, url), sources);
  }
}
