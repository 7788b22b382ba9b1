// `tintype upload *` on a folder of valid, unusual, broken, hostile and unrelated files: each becomes ready or fails
// with its code and advice, independently of the others.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeMixedFolder } from '../support/mixed-folder.ts';
import { deliver, withKey } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { makeFolder, removeFolder, runTintype } from './support/tintype.ts';
import { identify } from './support/tools.ts';

/** The largest file that clients send in one PUT, and the size of the parts of larger ones. */
const SINGLE_PUT_BYTES_MAX = 16 * 1024 * 1024;
const PART_BYTES = 8 * 1024 * 1024;
const NAME_CELLS = 32;

let tintype: UsedTintype;
let project: string;
let folder: string;
/** The arguments that name the Tintype and the project. */
let uploading: string[];
let outcomes: Record<string, RegExp>;
let said: { code: number | null; stdout: string; stderr: string };

beforeAll(async () => {
  folder = await makeFolder();
  const [started, written] = await Promise.all([takeTintype(), writeMixedFolder(folder)]);
  tintype = started;
  project = tintype.instance.project_slug;
  uploading = ['--data', tintype.data, '--project', project];
  outcomes = {
    ...written,
    'nothing.jpg': /^✗ unreadable_file: There is no such file\. Check its name/,
  };
  // The names to which a shell expands `*`, and two more.
  const names = (await readdir(folder)).filter((name) => name !== 'sub').toSorted();
  const files = [...names, 'sub/same.jpg', 'nothing.jpg'];
  said = await runTintype(['upload', ...files, ...uploading], { cwd: folder });
});

afterAll(() => Promise.all([tintype?.stop(), removeFolder(folder)]));

it('`tintype upload` reports the outcome of each file in a line of its own', () => {
  const lines = said.stderr.trimEnd().split('\n').slice(0, -1);
  const ends = Object.fromEntries(
    lines.map((line) => [line.slice(0, NAME_CELLS).trimEnd(), line.slice(NAME_CELLS + 1)] as const),
  );
  const expected = Object.entries(outcomes).map(([name, says]) => [
    name.startsWith('-') ? `./${name}` : name.replaceAll(/\p{C}/gu, '?'),
    expect.stringMatching(says),
  ]);
  expect(ends).toEqual(Object.fromEntries(expected));
});

it('`tintype upload` exits with 1 and sums up how many files were not published, and why', () => {
  const all = Object.values(outcomes);
  const refused = all.filter((says) => says.source.startsWith('^✗'));
  expect(said.code).toBe(1);
  const summary = said.stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(summary).toContain(`tintype: ${refused.length} of ${all.length} files were not published`);
  const counted = [...summary.matchAll(/(\d+) ([a-z_]+)[,)]/g)].map(([, count]) => Number(count));
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(refused.length);
  expect(summary).toContain('3 animated_not_supported');
});

it('`tintype upload` prints the URLs of exactly the files that are published', async () => {
  const slugs = [...said.stdout.matchAll(/\/originals\/f\/(\S+)/g)].map(([, slug]) => slug);
  expect(slugs).toHaveLength(
    Object.values(outcomes).filter((says) => says.source.startsWith('^✓')).length,
  );
  expect(new Set(slugs).size).toBe(slugs.length);
  const key = withKey(tintype, tintype.instance.api_key);
  const files = await key('GET', `/v1/projects/${project}/files?limit=100`);
  const published = files.body.items.map(({ file_slug }: { file_slug: string }) => file_slug);
  expect(published.toSorted()).toEqual(slugs.toSorted());
});

it('`tintype upload` sends a file above 16 MiB in parts of 8 MiB, and all of it is published', async () => {
  const { size } = await stat(join(folder, 'large.png'));
  expect(size).toBeGreaterThan(SINGLE_PUT_BYTES_MAX);
  expect(await sentParts('large.png')).toEqual([{ part_count: Math.ceil(size / PART_BYTES) }]);
  expect(await sentParts('good.webp')).toEqual([{ part_count: null }]);
  const key = withKey(tintype, tintype.instance.api_key);
  const file = await key('GET', `/v1/projects/${project}/files/large.png`);
  expect(file.body).toMatchObject({ width: 2600, height: 2400 });
  const image = await deliver(tintype, { project, path: '/resize/260x/f/large.png' });
  expect(await identify(image.bytes)).toEqual({ format: 'PNG', width: 260, height: 240 });
});

/** The number of parts of each upload to a slug; null for one PUT. */
async function sentParts(file_slug: string) {
  const db = new pg.Client(tintype.instance.database_url);
  await db.connect();
  try {
    const sql = `select part_count from uploads join projects using (project_id)
      where project_slug = $1 and file_slug = $2`;
    return (await db.query<{ part_count: number | null }>(sql, [project, file_slug])).rows;
  } finally {
    await db.end();
  }
}

it('`tintype upload` exits with 0 if all files are published, and replaces an existing file', async () => {
  const words = ['upload', 'good.png', './good.png', 'good.gif', ...uploading];
  const again = await runTintype(words, { cwd: folder });
  expect(again.code).toBe(0);
  expect(again.stderr).toMatch(/\nAll 2 files are published\.\n$/);
  const key = withKey(tintype, tintype.instance.api_key);
  expect((await key('GET', `/v1/projects/${project}/files/good.png`)).body.revision).toBe(2);
});

it('`tintype upload --sub` asks as that person, also for the project that the key is for', async () => {
  const words = ['upload', 'good.png', '--data', tintype.data, '--sub', 'kite'];
  const stranger = await runTintype(words, { cwd: folder });
  expect(stranger.code).toBe(1);
  expect(stranger.stderr).toMatch(/^tintype: kite has no project demo: /);
});
