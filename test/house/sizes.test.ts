import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, sourceFiles } from './source-files.ts';

const LINES_MAX = 250;

/** Files with a single table, which may be as long as the table. */
const TABLES = [
  'config/generate/openapi/operations.ts',
  'runtime/core/errors.ts',
  'runtime/core/limits.ts',
  'runtime/core/states.ts',
  'runtime/platform/config-variables.ts',
  'runtime/sdk/server/api-types.ts',
];

const FORBIDDEN_NAMES = /(^|\/|-)(utils?|helpers?|manager|service|common|lib|misc|index)\.ts$/;

const files = sourceFiles(['runtime', 'operator', 'config']);
const ours = sourceFiles(['runtime', 'operator']);

describe('the source code', () => {
  it(`has no file above ${LINES_MAX} lines except tables`, () => {
    const long = files
      .filter((file) => !TABLES.includes(file))
      .map((file) => ({ file, lines: lines(file).length }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(long).toEqual([]);
  });

  it('has no vague file names, such as utils or helpers', () => {
    expect(files.filter((file) => FORBIDDEN_NAMES.test(file))).toEqual([]);
  });

  it('has a comment at the start of every file', () => {
    const bare = files.filter((file) => !/^(#!.*|\/\*\*|\/\/)/.test(lines(file)[0] ?? ''));
    expect(bare).toEqual([]);
  });

  it('has no boolean parameters', () => {
    const flag =
      /(?:function \w+|=)\s*(?:async\s*)?\([^(){}]*\b\w+\??: boolean\b[^(){}]*\)\s*(?::|=>)/;
    expect(ours.filter((file) => flag.test(code(file)))).toEqual([]);
  });

  it('never bypasses the compiler by casts via unknown or @ts comments', () => {
    expect(
      ours.filter((file) => /\bas unknown as\b|@ts-(ignore|expect-error|nocheck)/.test(code(file))),
    ).toEqual([]);
  });

  it('has no TODO, FIXME or XXX', () => {
    const promises = files.filter((file) => /\b(TODO|FIXME|XXX)\b/.test(lines(file).join('\n')));
    expect(promises).toEqual([]);
  });
});

/** Replaces comments and strings by a digit, because they may contain any word. */
function code(file: string): string {
  return lines(file)
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '0');
}

function lines(file: string): string[] {
  return readFileSync(join(projectRoot, file), 'utf8').trimEnd().split('\n');
}
