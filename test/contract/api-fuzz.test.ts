/**
 * schemathesis, which nobody here wrote, reads the OpenAPI document and calls every operation with what it allows and
 * what it does not: no 500, no status, code or field that the document lacks. `make soak` does the same for longer.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SigningProxy, startSigningProxy } from './support/signing-proxy.ts';
import {
  projectRoot,
  removeFolder,
  runTintype,
  startTintype,
  type Tintype,
} from './support/tintype.ts';

const MINUTES = Number(process.env['TINTYPE_SOAK_MINUTES'] ?? '0');
const SECONDS = MINUTES > 0 ? MINUTES * 60 : 20;
const EXAMPLES = MINUTES > 0 ? 500 : 5;
/** Starting, shrinking what failed, and a machine that others use as well. */
const GRACE_MS = 240_000;
const OPERATIONS_MIN = 42;

let tintype: Tintype;
let proxy: SigningProxy;
let folder: string;

beforeAll(async () => {
  tintype = await startTintype({ env: { TINTYPE_RATE_WRITES: '1000000' } });
  const token = await runTintype(['token', '--json', '--data', tintype.data, '--sub', 'ada']);
  const { headers } = JSON.parse(token.stdout);
  const instance = JSON.parse(await readFile(join(tintype.data, 'instance.json'), 'utf8'));
  proxy = await startSigningProxy(instance.api_url, {
    session: headers,
    requestSigningSecret: instance.request_signing_secret,
    storageEventSecret: instance.storage_event_secret,
    apiKey: instance.api_key,
  });
  folder = await mkdtemp(join(tmpdir(), 'tintype-fuzz-'));
}, 120_000);
afterAll(async () => {
  await proxy?.close();
  await tintype?.end('SIGTERM');
  if (tintype !== undefined) await removeFolder(tintype.data);
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/**
 * The document without credentials, which the proxy adds, and without Idempotency-Key, under which a second request is
 * rightly refused; both have tests of their own.
 */
async function documentForFuzzing(): Promise<string> {
  const document = await (await fetch(`${proxy.url}/openapi.json`)).text();
  const isDropped = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    value.name === 'Idempotency-Key';
  const dropped = JSON.parse(document, (key, value) => {
    if (key === 'security' || key === 'securitySchemes') return undefined;
    return Array.isArray(value) ? value.filter((each) => !isDropped(each)) : value;
  });
  delete dropped.paths['/v1/uploads/{id}'];
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(dropped));
  return file;
}

it(
  'answers whatever schemathesis sends as its document says',
  async () => {
    const file = await documentForFuzzing();
    const config = join(projectRoot, 'test/contract/schemathesis.toml');
    const args = ['--config-file', config, 'run', file, '--url', proxy.url, '--seed', '20261121'];
    const limits = ['--max-examples', String(EXAMPLES), '--max-time', String(SECONDS)];
    const quiet = ['--no-color', '--warnings', 'off', '--generation-database', 'none'];
    const program = join(projectRoot, '.tools/schemathesis/bin/schemathesis');
    const checks = ['--exclude-checks', 'ignored_auth'];
    const child = spawn(program, [...args, ...limits, ...quiet, ...checks], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((done) => child.once('close', done));
    const report = await text(child.stdout);
    expect(await ended, report).toBe(0);
    const [, tested = '0'] = /Tested: (\d+)/.exec(report) ?? [];
    expect(Number(tested)).toBeGreaterThanOrEqual(OPERATIONS_MIN - 1);
    const [, generated = '0'] = /(\d+) generated/.exec(report) ?? [];
    expect(Number(generated)).toBeGreaterThan(OPERATIONS_MIN);
  },
  SECONDS * 1000 + GRACE_MS,
);
