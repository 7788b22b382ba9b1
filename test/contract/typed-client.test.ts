/**
 * Generates types from the served document with openapi-typescript, and uses them with openapi-fetch: what the document
 * permits compiles and works, and the compiler rejects everything else.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { projectRoot } from './support/tintype.ts';
import { client, day, wrongCalls } from './support/typed-calls.ts';

const GENERATOR = '.tools/openapi-types/node_modules/openapi-typescript/bin/cli.js';
const COMPILE_MS_MAX = 120_000;

let tintype: UsedTintype;
let folder: string;
let complaints: string;

beforeAll(async () => {
  tintype = await takeTintype();
  folder = await mkdtemp(join(tmpdir(), 'tintype-typed-'));
  const document = await (await fetch(`${tintype.instance.api_url}/openapi.json`)).text();
  await writeFile(join(folder, 'openapi.json'), document);
  await run(program(GENERATOR), [join(folder, 'openapi.json'), '-o', join(folder, 'api.d.ts')]);
  await writeSources();
  complaints = (await run(program('node_modules/typescript/bin/tsc'), ['-p', folder])).stdout;
}, COMPILE_MS_MAX);

afterAll(async () => {
  await tintype?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function writeSources(): Promise<void> {
  const packages = new URL('../', import.meta.resolve('openapi-fetch/package.json'));
  await symlink(packages, join(folder, 'node_modules'));
  const config = {
    extends: join(projectRoot, 'tsconfig.json'),
    compilerOptions: { noEmit: false, outDir: 'built', rootDir: '.', lib: ['es2024', 'dom'] },
    include: ['*.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const sources = { client, day, ...wrongCalls };
  for (const [name, source] of Object.entries(sources)) {
    await writeFile(join(folder, `${name}.ts`), source);
  }
}

const program = (path: string) => join(projectRoot, path);

/** Ignores the exit code, because the tests check the output. */
function run(script: string, args: string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [script, ...args], { cwd: folder }, (_error, stdout, stderr) => {
      done({ stdout, stderr });
    });
  });
}

/** The compiler errors of one source file. */
const complaintsOf = (name: string) =>
  complaints.split('\n').filter((line) => line.startsWith(`${name}.ts(`));

describe('the compiler', () => {
  it('accepts the generated types and every correct call', () => {
    const right = complaints
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(' '))
      .filter((line) => !Object.keys(wrongCalls).some((name) => line.startsWith(`${name}.ts(`)));
    expect(right).toEqual([]);
  });

  it.each(Object.keys(wrongCalls))('rejects %s', (name) => {
    expect(complaintsOf(name)).toHaveLength(1);
  });

  it('finds every path of the OpenAPI document in the generated types', async () => {
    const { paths } = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'));
    const types = await readFile(join(folder, 'api.d.ts'), 'utf8');
    for (const path of Object.keys(paths)) expect(types).toContain(`    "${path}": {`);
  });
});

describe('the compiled client', () => {
  it('uploads a picture, sets its title, lists it, signs its URL, and reads an error and the usage', async () => {
    const { api_url, api_key, project_slug } = tintype.instance;
    const picture = join(folder, 'picture.png');
    await writeFile(picture, await over(photograph(64, 48)).png().toBuffer());
    const words = [api_url, api_key, project_slug, picture];
    const { stdout, stderr } = await run(join(folder, 'built/day.js'), words);
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual({
      status: 'ready',
      title: 'Typed',
      slugs: ['typed.png'],
      url: expect.stringMatching(/\/resize\/32x24\/f\/typed\.png\?.*sig=/),
      refused: '404 file_not_found',
      files: 1,
    });
  });
});
