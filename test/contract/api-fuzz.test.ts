/**
 * schemathesis, an independent tool, reads the OpenAPI document and sends valid and invalid requests to every
 * operation. No response may be a 500 or have a status, code or field that is not documented. `make soak` runs longer,
 * and also the documented examples and random requests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SigningProxy, startSigningProxy, UNSIGNED } from './support/signing-proxy.ts';
import {
  projectRoot,
  removeFolder,
  runTintype,
  startTintype,
  type Tintype,
} from './support/tintype.ts';

const MINUTES = Number(process.env['TINTYPE_SOAK_MINUTES'] ?? '0');
const EXAMPLES = MINUTES > 0 ? 500 : 5;
/** For the start of the tool, the shrinking of failures, and a busy machine. */
const GRACE_MS = 240_000;
const OPERATIONS_MIN = 70;

/**
 * First every operation alone, then sequences along the documented links, in which requests use
 * values of earlier responses. `coverage` takes the bounds of each schema, and what breaks it.
 */
const RUNS =
  MINUTES > 0
    ? [
        { phases: 'examples,coverage,fuzzing', seconds: MINUTES * 45 },
        { phases: 'stateful', seconds: MINUTES * 15 },
      ]
    : [
        { phases: 'coverage', seconds: 20 },
        { phases: 'stateful', seconds: 6 },
      ];

let tintype: Tintype;
let credentials: Record<string, string>;
let proxy: SigningProxy;
let folder: string;

beforeAll(async () => {
  tintype = await startTintype({
    env: { TINTYPE_RATE_WRITES: '1000000', TINTYPE_RATE_FAILED_AUTHENTICATIONS: '1000000' },
  });
  const token = await runTintype(['token', '--json', '--data', tintype.data, '--sub', 'ada']);
  const session = JSON.parse(token.stdout);
  const instance = JSON.parse(await readFile(join(tintype.data, 'instance.json'), 'utf8'));
  credentials = {
    FUZZ_HOOKS: join(projectRoot, 'test/contract/schemathesis_hooks.py'),
    FUZZ_TOKEN: session.token,
    FUZZ_USER_ID: session.sub,
    FUZZ_API_KEY: instance.api_key,
    FUZZ_SIGNATURE: UNSIGNED,
  };
  proxy = await startSigningProxy(instance.api_url, instance);
  folder = await mkdtemp(join(tmpdir(), 'tintype-fuzz-'));
}, 300_000);
afterAll(async () => {
  await proxy?.close();
  await tintype?.end('SIGTERM');
  if (tintype !== undefined) await removeFolder(tintype.data);
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

it.each(RUNS)(
  'the API answers every schemathesis request as its OpenAPI document says: $phases',
  async (run) => {
    const { status, report } = await fuzz(run);
    expect(status, report).toBe(0);
    const [, selected = '0'] = /Selected: (\d+)/.exec(report) ?? [];
    expect(Number(selected)).toBeGreaterThanOrEqual(OPERATIONS_MIN);
    const [, generated = '0'] = /(\d+) generated/.exec(report) ?? [];
    expect(Number(generated)).toBeGreaterThan(0);
  },
  Math.max(...RUNS.map(({ seconds }) => seconds)) * 1000 + GRACE_MS,
);

async function fuzz({ phases, seconds }: (typeof RUNS)[number]) {
  const config = join(projectRoot, 'test/contract/schemathesis.toml');
  const args = ['--config-file', config, 'run', `${proxy.url}/openapi.json`, '--phases', phases];
  const limits = ['--max-examples', String(EXAMPLES), '--max-time', String(seconds)];
  const fixed = ['--seed', '20261121', '--generation-database', 'none'];
  const quiet = ['--no-color', '--warnings', 'off'];
  const program = join(projectRoot, '.tools/schemathesis/bin/schemathesis');
  const child = spawn(program, [...args, ...limits, ...fixed, ...quiet], {
    cwd: folder,
    env: { ...process.env, ...credentials },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [report, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { report, status };
}
