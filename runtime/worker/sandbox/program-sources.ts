/**
 * The sources of a decoder's program as JavaScript: read and stripped of types once by the process that starts
 * decoders, instead of by each decoder. boot.js receives them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { openScriptCache, type ScriptCache } from './script-cache.ts';

/** The file descriptor on which a decoder receives them. */
export const SOURCES_FD = 5;

/** What decoders run, unless another program is named. */
export const DECODER_PROGRAM = new URL('./child.ts', import.meta.url);

const prepared = new Map<string, Buffer>();

/**
 * JSON `[[url, source], …]` of the entry and all our modules that it imports; missing files are
 * left out.
 */
export function readProgramSources(entry: URL): Buffer {
  const known = prepared.get(entry.href);
  if (known !== undefined) return known;
  const sources = new Map<string, string>();
  const scripts = openScriptCache();
  collect(entry, sources, scripts);
  scripts.save();
  const printed = Buffer.from(JSON.stringify([...sources]));
  prepared.set(entry.href, printed);
  return printed;
}

/** Matches imports and exports alike. A match in a comment only costs checking for a file. */
const IMPORTED = /\b(?:from|import)\s+'(\.[^']+\.ts)'/g;

function collect(url: URL, sources: Map<string, string>, scripts: ScriptCache): void {
  if (sources.has(url.href) || !existsSync(url)) return;
  const source = scripts.strip(readFileSync(url, 'utf8'));
  sources.set(url.href, source);
  for (const [, specifier = ''] of source.matchAll(IMPORTED)) {
    collect(new URL(specifier, url), sources, scripts);
  }
}
