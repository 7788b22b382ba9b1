/**
 * Sources without their types, kept from one start to the next in the folder of Node's compile cache, if that is on:
 * stripping those of a decoder takes a fifth of the processor time until everything runs. A folder that is missing or
 * not writable only costs that time again.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { stripTypes } from '../../platform/strip-types.ts';

export type ScriptCache = {
  /** As stripTypes. */
  strip: (source: string) => string;
  /** Keeps what was stripped since opening, and only that. */
  save: () => void;
};

export function openScriptCache(folder = getCompileCacheDir()): ScriptCache {
  const path = folder && join(folder, 'decoder-scripts.json');
  const cached = readCached(path);
  const used = new Map<string, string>();
  return {
    strip: (source) => {
      const digest = createHash('sha256').update(source).digest('base64');
      const script = cached.get(digest) ?? stripTypes(source);
      used.set(digest, script);
      return script;
    },
    save: () => {
      const isKnown = [...used.keys()].every((digest) => cached.has(digest));
      if (path && !isKnown) replaceCached(path, used);
    },
  };
}

/** Script by the digest of its source. */
function readCached(path: string | undefined): Map<string, string> {
  try {
    return new Map(JSON.parse(readFileSync(path ?? '', 'utf8')) as [string, string][]);
  } catch {
    return new Map();
  }
}

/** Other processes may do the same at once: each finds one file or the other, whole. */
function replaceCached(path: string, scripts: Map<string, string>): void {
  const written = `${path}.${process.pid}`;
  try {
    writeFileSync(written, JSON.stringify([...scripts]));
    renameSync(written, path);
  } catch {
    // A read-only folder, as in an image, or a full disk.
    rmSync(written, { force: true });
  }
}
