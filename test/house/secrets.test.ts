/**
 * Secrets are compared in constant time with isSameSecret, never with an operator or a method whose time depends on
 * where two strings differ.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { comparedSecrets } from './compared-secrets.ts';
import { projectRoot, sourceFiles } from './source-files.ts';

/** Comparisons of values that are only named like secrets. */
const OTHERWISE = [
  // Names of Kubernetes Secrets and their variables.
  'operator/image-service/secrets.ts: need.secret === secret',
  'operator/image-service/secrets.ts: name === variables.providerBUrl.name',
  // Pseudonyms of two subjects, both from tokens that were verified or are just being made.
  'runtime/actions/find-refreshed-session.ts: other.equals(mac)',
  // Tokens of a parser.
  'runtime/worker/ingest/svg/style.ts: token.text === mark',
];

it.each([
  'if (sig === expected) return',
  'expected != request.signature',
  "return (signature ?? '') === expected;",
  'return expected === (request.headers.signature as string)!.trim();',
  'ok = (`b` + apiKey) === row.key || row[x] === y',
  'return isKnown ? (hasOld ? old : api_key) === row.value : false;',
  'const given = this.#token; return given === known;',
  "const expected = signRequest(a, b); return given.toLowerCase() == expected.toString('hex')",
  'function same({ signature: given }: Asked) { return given !== known }',
  'return Buffer.from(mac).equals(given)',
  'Buffer.compare(given, hmac(key, text)) === 0',
  'return candidates.includes(secret)',
  'return Object.is(password, given)',
  'switch (given) { case secret: return true }',
])('the search finds a secret that is compared in %s', (source) => {
  expect(comparedSecrets(`() => { ${source} }`)).toHaveLength(1);
});

it('the search leaves out comparisons with constants, and values that are no secrets', () => {
  expect(
    comparedSecrets(`() => {
      if (signature === 'none' || secret === undefined || null !== token) return;
      if (token.startsWith(PREFIX) || token.length === length || typeof secret !== 'string') return;
      return isSameSecret(signature ?? '', expected) === isKnown && signal === other.signal; }`),
  ).toEqual([]);
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

it('no server code compares a secret except by isSameSecret', () => {
  const files = sourceFiles(['runtime', 'operator']).filter(
    (file) => !file.startsWith('runtime/web/'),
  );
  const found = files.flatMap((file) => {
    const source = readFileSync(join(projectRoot, file), 'utf8');
    return comparedSecrets(source).map((text) => `${file}: ${text}`);
  });
  expect(found.sort()).toEqual([...OTHERWISE].sort());
});
