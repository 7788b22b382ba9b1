import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSpool, readSegment } from '../../../runtime/delivery/spool.ts';

const SPOOL = new URL('../../../runtime/delivery/spool.ts', import.meta.url).href;
const WRITER = new URL('../../support/spool-writer.ts', import.meta.url).pathname;
/** Appends three lines of 70 bytes; runs with a limit of 100 bytes per file. */
const CROWDED = `
  process.on('SIGXFSZ', () => undefined);
  const { openSpool } = await import(${JSON.stringify(SPOOL)});
  const spool = openSpool(process.env.FOLDER, 'one');
  const append = (n) => {
    try {
      spool.append({ n, text: 'x'.repeat(52) });
      return 'kept';
    } catch (error) {
      return error.code;
    }
  };
  console.log([1, 2, 3].map(append).join(' '));`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a spool', () => {
  it.each([
    [import.meta.filename, 'EEXIST'],
    [join(import.meta.filename, 'spool'), 'EEXIST'],
    ['/proc/nowhere/spool', 'ENOENT'],
  ])('names TINTYPE_SPOOL_DIR in the error for an unusable folder: %s', (path, code) => {
    expect(() => openSpool(path, 'one')).toThrow(
      expect.objectContaining({
        name: 'Advice',
        message: expect.stringMatching(
          new RegExp(
            `^TINTYPE_SPOOL_DIR: expected a folder .*${code}.*; for example TINTYPE_SPOOL`,
          ),
        ),
      }),
    );
  });

  it('has a line on disk once append returns', async () => {
    const ended = openSpool(folder, 'one');
    ended.append({ a: 1 });
    ended.end();
    const [segment] = await openSpool(folder, 'other').closedSegments();
    expect(segment).toMatchObject({ spool_id: 'one', sequence: 1 });
    expect(segment && (await readSegment(segment))).toEqual([{ a: 1 }]);
  });

  it('never changes a segment that it has listed', async () => {
    const spool = openSpool(folder, 'one');
    spool.append({ a: 1 });
    const [first] = await spool.closedSegments();
    spool.append({ a: 2 });
    const segments = await spool.closedSegments();
    expect(segments.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(first && (await readSegment(first))).toEqual([{ a: 1 }]);
  });

  it('never lists a segment that was begun during the listing', async () => {
    const spool = openSpool(folder, 'spl_own');
    spool.append({ n: 1 });
    const listing = spool.closedSegments();
    spool.append({ n: 2 });
    const segments = await listing;
    spool.append({ n: 3 });
    expect(segments.map(({ sequence }) => sequence)).toEqual([1]);
    for (const segment of segments) await spool.remove(segment);
    const [rest] = await spool.closedSegments();
    expect(rest && (await readSegment(rest))).toEqual([{ n: 2 }, { n: 3 }]);
  });

  it('lists the segments of earlier processes first, each in order', async () => {
    const earlier = openSpool(folder, 'zzz');
    for (const a of [1, 2]) {
      earlier.append({ a });
      await earlier.closedSegments();
    }
    earlier.end();
    const spool = openSpool(folder, 'aaa');
    spool.append({ a: 3 });
    const segments = await spool.closedSegments();
    expect(segments.map(({ spool_id, sequence }) => `${spool_id} ${sequence}`)).toEqual([
      'zzz 1',
      'zzz 2',
      'aaa 1',
    ]);
  });

  it('throws if the disk is full, leaves no empty segment, and continues with the next line', async () => {
    mkdirSync(join(folder, 'one'));
    symlinkSync('/dev/full', join(folder, 'one', '0000000001.ndjson'));
    const spool = openSpool(folder, 'one');
    expect(() => spool.append({ a: 1 })).toThrow('ENOSPC');
    spool.append({ a: 2 });
    const segments = await spool.closedSegments();
    const last = segments.at(-1);
    expect(segments.map(({ sequence }) => sequence)).toEqual([1]);
    expect(last && (await readSegment(last))).toEqual([{ a: 2 }]);
  });

  it('has no torn line in the middle if the disk takes only a part of one', async () => {
    const printed = execFileSync(
      'prlimit',
      ['--fsize=100', process.execPath, '--input-type=module', '-e', CROWDED],
      {
        // The compile cache would exceed the limit as well.
        env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1', FOLDER: folder },
        encoding: 'utf8',
      },
    );
    expect(printed.trim()).toBe('kept EFBIG kept');
    const segments = await openSpool(folder, 'other').closedSegments();
    const lines = await Promise.all(segments.map(readSegment));
    expect(lines.flat().map((line) => (line as { n: number }).n)).toEqual([1, 3]);
  });

  it('skips a last line that a kill has cut short', async () => {
    const spool = openSpool(folder, 'one');
    spool.append({ a: 1 });
    appendFileSync(join(folder, 'one', '0000000001.ndjson'), '{"a":');
    const [segment] = await spool.closedSegments();
    expect(segment && (await readSegment(segment))).toEqual([{ a: 1 }]);
  });

  it('removes empty folders of earlier processes, and nothing else', async () => {
    const earlier = openSpool(folder, 'earlier');
    earlier.append({ a: 1 });
    earlier.end();
    mkdirSync(join(folder, 'empty'));
    expect(readdirSync(folder)).toEqual(['earlier', 'empty']);
    const spool = openSpool(folder, 'one');
    expect(readdirSync(folder)).toEqual(['earlier']);
    for (const segment of await spool.closedSegments()) await spool.remove(segment);
    expect(await spool.closedSegments()).toEqual([]);
    openSpool(folder, 'two');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps its folder while its process lives, even if it has no lines', async () => {
    const spool = openSpool(folder, 'one');
    spool.append({ a: 1 });
    for (const segment of await spool.closedSegments()) await spool.remove(segment);
    openSpool(folder, 'two');
    expect(readdirSync(folder)).toContain('one');
    spool.end();
    openSpool(folder, 'three');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over the segments of another process only once that was killed', async () => {
    const writer = spawn(process.execPath, [WRITER, folder, 'other'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    const [spool, third] = [openSpool(folder, 'one'), openSpool(folder, 'two')];
    spool.append({ a: 1 });
    const ours = async () => (await spool.closedSegments()).map(({ spool_id }) => spool_id);
    expect(await ours()).toEqual(['one']);
    writer.kill('SIGKILL');
    await once(writer, 'close');
    expect(await ours()).toEqual(['other', 'other', 'other', 'one']);
    expect(await third.closedSegments()).toEqual([]);
    for (const segment of await spool.closedSegments()) await spool.remove(segment);
    expect(await ours()).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('other'))).toEqual(['other']);
  });

  it('removes the stale lock of a killed process, but not a recent one', () => {
    for (const name of ['left', 'new']) appendFileSync(join(folder, `${name}.lock`), '');
    const before = Date.now() / 1000 - 120;
    utimesSync(join(folder, 'left.lock'), before, before);
    openSpool(folder, 'one');
    expect(readdirSync(folder)).toEqual(['new.lock']);
  });

  it('counts its own lines and those that it would send for ended processes', async () => {
    const [spool, other] = [openSpool(folder, 'one'), openSpool(folder, 'two')];
    for (const n of [1, 2]) spool.append({ n });
    other.append({ n: 3 });
    expect(await spool.countLines()).toBe(2);
    other.end();
    expect(await spool.countLines()).toBe(3);
  });

  it('ignores files that are not segments', async () => {
    mkdirSync(join(folder, 'one'));
    appendFileSync(join(folder, 'one', 'notes.txt'), 'x');
    appendFileSync(join(folder, 'lost+found'), 'x');
    expect(await openSpool(folder, 'two').closedSegments()).toEqual([]);
  });
});
