/**
 * What a decoder runs first: it is handed the program's sources as JavaScript, so that it neither looks for them nor
 * reads types, which would be two thirds of its start. Plain JavaScript for the same reason. What it was not handed is
 * loaded as ever.
 */
import { closeSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
// Before the hooks, which are for our own modules.
import 'sharp';

/** The same as in program-sources.ts, which writes to it. */
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
