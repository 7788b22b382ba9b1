/**
 * Secrets are compared in constant time with isSameSecret, never with an operator, whose time depends on where two
 * strings differ.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot, sourceFiles } from './source-files.ts';

/**
 * Matches a comparison of two values of which one has the name of a secret. Comparisons with a
 * string literal, a boolean, null or undefined do not match.
 */
const NAME = String.raw`\w*(?:sig|mac|signature|secret|apiKey|token)\b`;
const COMPARED = new RegExp(
  String.raw`${NAME} *[!=]==(?! *(?:undefined|null|true|false|['"]))|[!=]== *(?:\w+\.)*${NAME}(?!\()`,
  'i',
);

/** Files where such names are names of Kubernetes Secrets, or tokens of a parser. */
const OTHERWISE = ['operator/image-service/secrets.ts', 'runtime/core/unclear-json.ts'];

it('the pattern finds secrets that are compared with === or !==', () => {
  expect('if (sig === expected)').toMatch(COMPARED);
  expect('return expected === request.signature;').toMatch(COMPARED);
  expect("if (signature === 'none' || secret === undefined)").not.toMatch(COMPARED);
});

it('isSameSecret compares in constant time', () => {
  const text = readFileSync(join(projectRoot, 'runtime/core/signing/hmac.ts'), 'utf8');
  const [, body = ''] =
    /export function isSameSecret\([^)]*\): boolean \{([^}]*)\}/.exec(text) ?? [];
  expect(body).toMatch(/return timingSafeEqual\(/);
  expect(body).not.toMatch(/[!=]==?/);
});

it('every posted message names its target origin', () => {
  const posts = sourceFiles(['runtime/web', 'runtime/sdk'])
    .map((file) => readFileSync(join(projectRoot, file), 'utf8'))
    .flatMap((text) => text.match(/\.postMessage\([^;]*;/g) ?? []);
  expect(posts.length).toBeGreaterThanOrEqual(2);
  for (const post of posts) expect(post).toMatch(/, (?:this\.#)?origin\);$/);
});

it('no server code compares a secret with === or !==', () => {
  const files = sourceFiles(['runtime', 'operator']).filter(
    (file) => !file.startsWith('runtime/web/') && !OTHERWISE.includes(file),
  );
  const found = files.flatMap((file) =>
    readFileSync(join(projectRoot, file), 'utf8')
      .split('\n')
      .filter((line) => COMPARED.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
