// Decoders receive their program's sources instead of reading files.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProgramSources } from '../../../../runtime/worker/sandbox/program-sources.ts';
import { createSandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { openScriptCache } from '../../../../runtime/worker/sandbox/script-cache.ts';
import { silentLog as log } from '../../../operator/kube/silent-log.ts';

const sandbox = new URL('../../../../runtime/worker/sandbox/', import.meta.url);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-sources-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function sourcesOf(entry: URL): Map<string, string> {
  return new Map(JSON.parse(readProgramSources(entry).toString()) as [string, string][]);
}

/** A program that returns its version, and whether it had to strip types itself. */
function programOf(version: string): string {
  const isTypeReader = `(name: string) => name.includes('amaro')`;
  const serveJobs = relative(folder, fileURLToPath(new URL('serve-jobs.ts', sandbox)));
  return `import { serveJobs } from '${serveJobs}';
import { version } from './version.ts';
const handler = async () => {
  const names: string[] = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
  return { facts: { version, read_types: names.some(${isTypeReader}) }, parts: [] };
};
export type Unused = '${version}';
await serveJobs({ tell: handler });
`;
}

it('the sources given to a decoder are complete, and have no types', () => {
  const sources = sourcesOf(new URL('child.ts', sandbox));
  expect([...sources.keys()].filter((url) => url.endsWith('/ingest/ingest-job.ts'))).toHaveLength(
    1,
  );
  const missing = [...sources].flatMap(([url, source]) =>
    [...source.matchAll(/'(\.{1,2}\/[^'\n]+\.[jt]s)'/g)]
      .map(([, specifier = '']) => new URL(specifier, url).href)
      .filter((imported) => !sources.has(imported)),
  );
  expect(missing).toEqual([]);
  for (const source of sources.values()) expect(source).not.toMatch(/^(export )?type \w+ =/m);
});

it('the sources are read once: a decoder that starts later runs the same version as earlier ones', async () => {
  const entry = join(folder, 'program.ts');
  const write = (version: string) => {
    writeFileSync(entry, programOf(version));
    writeFileSync(join(folder, 'version.ts'), `export const version: string = '${version}';\n`);
  };
  write('first');
  const decoders = createSandbox({
    ...{ slots: 1, wall_clock_ms: 30_000, memory_bytes: 1e9, jobs_per_child: 1, log },
    entry: pathToFileURL(entry),
  });
  const tell = async () => (await decoders.run({ kind: 'tell', facts: {}, parts: [] })).facts;
  expect(await tell()).toEqual({ version: 'first', read_types: false });
  write('second');
  await tell();
  expect(await tell()).toEqual({ version: 'first', read_types: false });
  await decoders.close();
});

describe('type-stripped scripts kept from an earlier start', () => {
  const typed = 'export const one: number = 1;\n';
  const script = 'export const one         = 1;\n';
  let cache: string;
  beforeEach(() => {
    cache = mkdtempSync(join(folder, 'cache-'));
  });

  function strip(source: string): string {
    const scripts = openScriptCache(cache);
    const answer = scripts.strip(source);
    scripts.save();
    return answer;
  }
  const kept = () => readFileSync(join(cache, 'decoder-scripts.json'), 'utf8');
  const replaceInKept = (from: string, to: string) =>
    writeFileSync(join(cache, 'decoder-scripts.json'), kept().replace(from, to));

  it('are used only for the same source', () => {
    expect(strip(typed)).toBe(script);
    replaceInKept('= 1;', '= 2;');
    expect(strip(typed)).toBe(script.replace('1', '2'));
    expect(strip(`${typed}\n`)).toBe(`${script}\n`);
    expect(kept()).not.toContain('= 2;');
  });

  it('are made again if their file is damaged, which is replaced', () => {
    strip(typed);
    writeFileSync(join(cache, 'decoder-scripts.json'), kept().slice(0, 20));
    expect(strip(typed)).toBe(script);
    expect(kept()).toContain('= 1;');
  });

  it('are not needed if they cannot be stored', () => {
    mkdirSync(join(cache, 'decoder-scripts.json'));
    expect(strip(typed)).toBe(script);
    expect(readdirSync(cache)).toEqual(['decoder-scripts.json']);
  });
});
