// docs/scanner.md: the example server, as a separate process, fulfills the documented contract and works with Tintype.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import contract from '../../docs/scanner.openapi.json' with { type: 'json' };
import { systemClock } from '../../runtime/platform/clock.ts';
import { openHttpScanner } from '../../runtime/platform/scanner/http-scanner.ts';
import { readFences } from '../contract/support/blocks.ts';
import { over, photograph } from '../support/pictures.ts';

const never = new AbortController().signal;
const validate = new Ajv2020({ strict: false }).compile({
  ...contract.components.schemas.Scores,
});
let server: ChildProcess;
let url: string;
let picture: Buffer;

beforeAll(async () => {
  const program = fileURLToPath(new URL('../../docs/scanner-example.js', import.meta.url));
  server = spawn(process.execPath, [program, '0'], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = server.stdout ? await once(server.stdout, 'data') : [];
  url = `http://127.0.0.1:${/\d+/.exec(String(said))?.[0]}/scan`;
  picture = await over(photograph(512, 300)).jpeg().toBuffer();
});
afterAll(() => {
  server.kill();
});

it('the example scanner scores a picture', async () => {
  const scanner = openHttpScanner({ url, clock: systemClock });
  expect(await scanner.scan(picture, never)).toEqual({ nudity: 0 });
});

it('the response of the example scanner matches its contract', async () => {
  const headers = { 'content-type': 'image/jpeg' };
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(picture), headers });
  expect(validate(await answer.json())).toBe(true);
});

it('the example scanner rejects what is not an image, as its contract allows', async () => {
  const scanner = openHttpScanner({ url, clock: systemClock });
  await expect(scanner.scan(Buffer.from('no picture'), never)).rejects.toMatchObject({
    kind: 'refused',
  });
  expect(Object.keys(contract.paths['/scan'].post.responses)).toContain('422');
});

it('the response shown on the page matches the contract', () => {
  const shown = readFences('docs/scanner.md').filter(({ language }) => language === 'json');
  expect(shown.map(({ text }) => validate(JSON.parse(text)))).toEqual([true]);
});

it('the contract accepts its own example and rejects invalid scores', () => {
  const { example } = contract.paths['/scan'].post.responses[200].content['application/json'];
  expect(validate(example)).toBe(true);
  for (const wrong of [{}, { scores: { nudity: 2 } }, { scores: { 'Not a name': 0 } }])
    expect(validate(wrong)).toBe(false);
});
