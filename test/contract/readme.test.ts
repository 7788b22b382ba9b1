// Runs every command of the README and of the getting-started guide, in order, on a fresh Tintype, and checks that it
// does what the text says. Blocks marked `console` are only shown, not run.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { jsonIn, readFences, runBlocks } from './support/blocks.ts';
import { withSession } from './support/client.ts';
import { readStart } from './support/start-line.ts';
import {
  makeFolder,
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from './support/tintype.ts';
import { identify } from './support/tools.ts';

const README = 'README.md';
const GETTING_STARTED = 'docs/getting-started.md';

let tintype: Tintype;
let config: string;
const folders: string[] = [];

/** An empty folder with a photograph, which the documents expect. */
async function folderWithPhoto(): Promise<string> {
  const folder = await makeFolder();
  folders.push(folder);
  const photo = over(photograph(1500, 1000)).jpeg({ quality: 92 });
  await writeFile(join(folder, 'photo.jpg'), await photo.toBuffer());
  return folder;
}

beforeAll(async () => {
  config = await makeFolder();
  await cp(join(projectRoot, 'config/samples'), config, { recursive: true });
  const yaml = readFences(README).filter(({ language }) => language === 'yaml');
  for (const [index, { text }] of yaml.entries()) {
    await writeFile(join(config, `readme-${index}.yaml`), text);
  }
  tintype = await startTintype({ config });
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await Promise.all([tintype?.data, config, ...folders].map(removeFolder));
});

describe('README', { shuffle: false }, () => {
  let folder: string;
  let printed: string[];

  it('has code blocks that run without errors', async () => {
    folder = await folderWithPhoto();
    printed = await runBlocks(README, { folder, tintype });
  });

  it('prints delivery URLs after an upload', () => {
    const { delivery_port } = tintype.instance;
    expect(printed[0]?.trim().split(/\s+/)).toEqual(
      ['originals', 'resize/640x480', 'preset:hero', 'preset:thumb'].map(
        (chain) => `http://demo.localhost:${delivery_port}/${chain}/f/photo.jpg`,
      ),
    );
  });

  it.each([
    ['small.jpg', { format: 'JPEG', width: 640, height: 480 }],
    ['thumb.webp', { format: 'WEBP', width: 200, height: 200 }],
    ['crop.png', { format: 'PNG', width: 150, height: 150 }],
  ])('downloads %s', async (file, expected) => {
    expect(await identify(await readFile(join(folder, file)))).toEqual(expected);
  });

  it('downloads nothing else', async () => {
    const files = (await readdir(folder)).filter((file) => !/^output-|^photo/.test(file));
    expect(files.sort()).toEqual(['crop.png', 'small.jpg', 'thumb.webp']);
  });

  it('lists the file, mints a signed URL and shows usage', () => {
    const [files, signed, usage] = jsonIn(printed[2] ?? '');
    expect(files.items).toMatchObject([{ file_slug: 'photo.jpg', width: 1500, height: 1000 }]);
    expect(signed.url).toMatch(/\/resize\/320x\/f\/photo\.jpg\?exp=\d+&kid=\w+&sig=/);
    expect(usage).toMatchObject({ project_slug: 'demo', storage: { file_count: 1 } });
    expect(usage.credit_balance).toBeGreaterThan(0);
  });

  it('starts with the command that `make up` runs', async () => {
    const { env, args } = readStart(README);
    expect([env, args]).toEqual([{}, []]);
    const words = ['--no-print-directory', '--dry-run', 'up', 'ARGS=--config my-folder'];
    const { stdout } = await promisify(execFile)('make', words, { cwd: projectRoot });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('node runtime/main.ts up --config my-folder');
  });

  it('has at most 90 lines', () => {
    const lines = readFileSync(join(projectRoot, README), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(90);
  });

  it('contains YAML of a project that is applied without complaints', async () => {
    expect(tintype.stderr.filter((line) => line.includes('declaration'))).toEqual([]);
    const owner = await withSession(tintype, 'demo');
    const { status, body } = await owner('GET', '/v1/projects/shop');
    expect([status, body.name, body.delivery_access]).toEqual([200, 'Shop', 'public']);
  });
});

describe('getting started', { shuffle: false }, () => {
  let folder: string;
  let printed: string[];

  it('has code blocks that run without errors', async () => {
    folder = await folderWithPhoto();
    printed = await runBlocks(GETTING_STARTED, { folder, tintype });
  });

  it('gives a new user trial credits, a project and a key', () => {
    const [me] = jsonIn(printed[0] ?? '');
    expect(me).toMatchObject({
      user: { subject: 'alice' },
      organization: { credit_balance: 1000 },
    });
    const [project] = jsonIn(printed[1] ?? '');
    expect(project).toMatchObject({ project_slug: 'holiday', delivery_access: 'public' });
    const [key, own] = jsonIn(printed[2] ?? '');
    expect(key.plaintext_secret).toMatch(/^tin_live_[0-9a-f]{36}$/);
    expect(own).toMatchObject({ id: key.id, project_slug: 'holiday' });
  });

  it('uploads a picture', () => {
    const [created, completed] = jsonIn(printed[3] ?? '');
    expect(created).toMatchObject({ status: 'created', file_slug: 'photo.jpg' });
    expect(completed.upload_id).toBe(created.upload_id);
  });

  it.each([
    ['original.jpg', { format: 'JPEG', width: 1500, height: 1000 }],
    ['fit.jpg', { format: 'JPEG', width: 640, height: 427 }],
    ['wide.webp', { format: 'WEBP', width: 640, height: 427 }],
    ['crop.png', { format: 'PNG', width: 200, height: 100 }],
    ['thumb.jpg', { format: 'JPEG', width: 200, height: 200 }],
    ['signed.jpg', { format: 'JPEG', width: 320, height: 213 }],
  ])('downloads %s', async (file, expected) => {
    expect(await identify(await readFile(join(folder, file)))).toEqual(expected);
  });

  it('protects the project and mints a signed URL', () => {
    const [project, signed] = jsonIn(printed[5] ?? '');
    expect(project.delivery_access).toBe('protected');
    expect(Object.keys(signed).sort()).toEqual(['expires_at', 'kid', 'url']);
  });

  it('shows usage', () => {
    const [usage] = jsonIn(printed[6] ?? '');
    expect(usage).toMatchObject({ project_slug: 'holiday', credit_balance: 1000 });
  });
});
