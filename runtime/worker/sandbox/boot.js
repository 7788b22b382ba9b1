/**
 * Boot code of a decoder: it receives the program's sources as JavaScript, so that it neither searches for them nor
 * strips types, which would be two thirds of its start. Itself plain JavaScript for the same reason. Modules not
 * received are loaded as usual.
 */
import { closeSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
// Before the hooks, which are for our own modules only.
import 'sharp';

/** The same as in program-sources.ts, which sends the sources. */
const SOURCES_FD = 5;

/** @type {Map<string, string>} by URL */
const sources = new Map(JSON.parse(readFileSync(SOURCES_FD, 'utf8')));
closeSync(SOURCES_FD);

registerHooks({
  resolve: (specifier, context, next) => {
    const url = specifier.startsWith('.') ? new URL(specifier, context.parentURL).href : specifier;
    return sources.has(url)
      ? { url, format: 'module', shortCircuit: true }
      : next(specifier, context);
  },
  load: (url, context, next) => {
    const source = sources.get(url);
    return source === undefined
      ? next(url, context)
      : { format: 'module', source, shortCircuit: true };
  },
});

await import(process.argv[2] ?? '');
