// The package as customers install it: it has no dependencies and is small in browsers. All examples in its
// documentation compile in strict mode, and those for servers run.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '../../../runtime/core/signing/webhook.ts';
import { readFences } from '../../contract/support/blocks.ts';
import { projectRoot } from '../../house/source-files.ts';

const run = promisify(execFile);
const DOCUMENTS = ['docs/sdk.md', 'docs/picker.md'];

let folder: string;
let built: string;
/** Compiler output for the examples of each document. */
const said = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-sdk-'));
  built = join(folder, 'node_modules/tintype');
  await run(process.execPath, [join(projectRoot, 'config/build-sdk.ts'), built]);
  for (const name of ['@uppy', '@types', 'zod']) {
    await symlink(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const document of DOCUMENTS)
    said.set(document, await compile(await writeExamples(document)));
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes each block marked `ts name.ts` to a file of that name; returns their folder. */
async function writeExamples(document: string): Promise<string> {
  const place = join(folder, document.replace(/\W/g, '-'));
  await mkdir(place);
  const examples = readFences(document).filter(({ name }) => name.endsWith('.ts'));
  for (const { name, text } of examples) await writeFile(join(place, name), text);
  const settings = JSON.parse(await readFile(join(projectRoot, 'tsconfig.json'), 'utf8'));
  const config = {
    compilerOptions: {
      ...settings.compilerOptions,
      noEmit: false,
      outDir: 'out',
      rootDir: '.',
      lib: ['es2024', 'dom', 'dom.iterable'],
    },
    include: ['*.ts'],
  };
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(place, 'package.json'), '{ "type": "module" }');
  return place;
}

async function compile(place: string): Promise<string> {
  const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', place]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

/** The text of all modules that an entry imports, by path. */
async function modulesOf(entry: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const visit = async (path: string) => {
    if (found.has(path)) return;
    const text = await readFile(path, 'utf8');
    found.set(path, text);
    for (const [, from = ''] of text.matchAll(/(?:from|import) '(\.[^']+)'/g))
      await visit(resolve(dirname(path), from));
  };
  await visit(join(built, 'dist/sdk', entry));
  return found;
}

describe('the SDK package', () => {
  it('needs no other package, and no Node modules in a browser', async () => {
    for (const entry of ['server/sdk.js', 'browser/uploader.js', 'browser/picker.js']) {
      for (const [path, text] of await modulesOf(entry)) {
        const bare = [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, from = '']) => from);
        const isServer = entry.startsWith('server/');
        const strange = bare.filter((from) => !isServer || !from.startsWith('node:'));
        expect(strange, relative(built, path)).toEqual([]);
      }
    }
    const { dependencies } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
  });

  it('has a README without relative links', async () => {
    const text = await readFile(join(built, 'README.md'), 'utf8');
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to);
    expect(links).not.toEqual([]);
    expect(links.filter((to) => !/^(?:#|https:)/.test(to))).toEqual([]);
    expect(text).toContain('errors (docs/errors/README.md of Tintype)');
  });

  it.each([
    ['browser/uploader.js', 20_000],
    ['browser/picker.js', 6_000],
    ['browser/uppy.js', 15_000],
  ])(
    '%s and its modules have less than %i bytes when compressed, including comments',
    async (entry, most) => {
      const all = [...(await modulesOf(entry)).values()].map((text) => gzipSync(text).length);
      expect(all.reduce((sum, each) => sum + each, 0)).toBeLessThan(most);
    },
  );

  it('can be set up outside a browser, on a server that renders the page', async () => {
    const load = (entry: string) => import(join(built, 'dist/sdk/browser', entry));
    const [{ createUploader }, { tintypeForUppy }, { definePicker }] = await Promise.all(
      ['uploader.js', 'uppy.js', 'picker.js'].map(load),
    );
    expect(createUploader({ endpoint: '/upload' })).toHaveProperty('upload');
    expect(tintypeForUppy({ endpoint: '/upload', route: 'gallery' })).toHaveProperty('connect');
    expect(definePicker()).toBeUndefined();
  });

  it('has the exports of the project, each with its files', async () => {
    const { exports: entries } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8'));
    const own = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
    expect(Object.keys(entries)).toEqual(Object.keys(own.exports));
    const files = (await readdir(join(built, 'dist'), { recursive: true })).map(String);
    for (const { types, default: code } of Object.values<Record<string, string>>(entries)) {
      for (const path of [types, code]) expect(files).toContain(path?.replace('./dist/', ''));
    }
  });
});

describe('the documented examples', () => {
  it.each(DOCUMENTS)('in %s compile in strict mode', (document) => {
    expect(said.get(document)).toBe('');
  });

  it('run on a server', async () => {
    const out = join(folder, 'docs-sdk-md/out');
    const images = await import(join(out, 'images.js'));
    expect(images.hero).toBe(
      'https://shop.img.example/resize/640x480/smart/format/webp/f/red-shoe.jpg',
    );
    const { receive } = await import(join(out, 'webhook.js'));
    const body = JSON.stringify({
      id: 'webhook.test:1',
      event: 'webhook.test',
      created_at: new Date().toISOString(),
      data: {},
    });
    const t = Math.floor(Date.now() / 1000);
    const signature = signWebhook({ secrets: ['whsec_…'], t, body });
    const send = (headers: Record<string, string>) =>
      receive(new Request('https://shop.example/hook', { method: 'POST', body, headers }));
    expect((await send({ 'x-service-signature': signature })).status).toBe(204);
    const refused = await send({});
    expect([refused.status, await refused.text()]).toEqual([400, 'missing_header']);
    const { handler } = await import(join(out, 'server.js'));
    const described = await handler(new Request('https://shop.example/upload'));
    expect((await described.json()).routes.avatar.accept['image/jpeg'].max_bytes).toBe(8_388_608);
  });
});
