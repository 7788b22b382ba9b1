import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { impureParts } from './impure-parts.ts';
import { projectRoot, sourceFiles } from './source-files.ts';

/** The makers of new ids and API keys. */
const RANDOM_IN = ['runtime/core/ids.ts', 'runtime/core/signing/api-key.ts'];

describe('the core', () => {
  it('reads no clock, timer, network, environment or output, and loads nothing later', () => {
    const found = sourceFiles(['runtime/core']).map((file) => {
      const parts = impureParts(readFileSync(join(projectRoot, file), 'utf8'));
      return [file, parts.filter((part) => !isAllowed(file, part))] as const;
    });
    expect(found.length).toBeGreaterThan(50);
    expect(found.filter(([, parts]) => parts.length > 0)).toEqual([]);
  });

  it('takes random bytes only for new ids and API keys', () => {
    const random = sourceFiles(['runtime/core']).filter((file) =>
      impureParts(readFileSync(join(projectRoot, file), 'utf8')).includes('randomBytes'),
    );
    expect(random).toEqual(RANDOM_IN);
  });
});

describe('the check of the core', () => {
  it.each([
    ['const at = Date.now();', 'Date.now()'],
    ['const at = new Date();', 'new Date()'],
    ['const at = Date();', 'Date()'],
    ['const at = performance.now();', 'performance'],
    ['const n = Math.random();', 'Math.random'],
    ['const { random } = Math;', 'Math'],
    ['const id = crypto.randomUUID();', 'crypto'],
    [`import { randomUUID } from 'node:crypto';`, 'randomUUID'],
    [`import { randomInt as dice } from 'node:crypto';`, 'randomInt'],
    [`import * as all from 'node:crypto';`, 'node:crypto'],
    ['const { env } = process;', 'process'],
    ['globalThis.process.exit();', 'globalThis'],
    [`const fs = await import('node:fs');`, 'import()'],
    ['const here = import.meta.url;', 'import.meta'],
    ['setTimeout(f, 1); setImmediate(f); queueMicrotask(f);', 'setTimeout'],
    ['const f = fetch;', 'fetch'],
    ['console.log(1);', 'console'],
  ])('sees %s', (source, part) => {
    expect(impureParts(source)).toContain(part);
  });

  it.each([
    'const at = new Date(0); const other = Date.UTC(2026, 1); const parsed = Date.parse(text);',
    'const n = Math.max(1, 2);',
    'const row = { process: 1, fetch: 2 }; const at = row.process + row.fetch;',
    `import { createHash, type KeyObject } from 'node:crypto';`,
    '// process.env and Date.now() of others',
    'type Timer = { performance: number }; let timer: Timer;',
  ])('lets pass %s', (source) => {
    expect(impureParts(source)).toEqual([]);
  });
});

function isAllowed(file: string, part: string): boolean {
  return part === 'randomBytes' && RANDOM_IN.includes(file);
}
