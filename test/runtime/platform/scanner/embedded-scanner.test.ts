// The embedded model really scans images, in a process that may hang, die or send nonsense without affecting others.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { isProcessAlive } from '../../../../runtime/platform/is-process-alive.ts';
import {
  type EmbeddedScannerOptions,
  openEmbeddedScanner,
} from '../../../../runtime/platform/scanner/embedded-scanner.ts';
import { type Scanner, ScannerFault } from '../../../../runtime/platform/scanner/scanner.ts';
import { drawing, over, photograph } from '../../../support/pictures.ts';

const never = new AbortController().signal;
const START_MS = 120_000;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-scanner-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const open = (options: Partial<EmbeddedScannerOptions> = {}) =>
  openEmbeddedScanner({ clock: systemClock, start_ms: START_MS, deadline_ms: 60_000, ...options });
const jpeg = (picture: ReturnType<typeof drawing>) => over(picture).jpeg().toBuffer();

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'it did not fail',
    (thrown: unknown) => thrown,
  );
  return error instanceof ScannerFault ? `${error.kind}: ${error.message}` : String(error);
}

describe('the embedded model', { timeout: START_MS }, () => {
  let scanner: Scanner;
  beforeAll(() => {
    scanner = open();
  });

  it('returns the same scores for the same picture, other ones for another, and shares that add up to 1', async () => {
    const picture = await jpeg(drawing(512, 340));
    const [first, again] = await Promise.all([
      scanner.scan(picture, never),
      scanner.scan(picture, never),
    ]);
    expect(again).toEqual(first);
    expect(await scanner.scan(await jpeg(photograph(512, 340)), never)).not.toEqual(first);
    const { nudity = 0, ...shares } = first;
    expect(Object.keys(shares)).toEqual(['drawing', 'hentai', 'neutral', 'porn', 'sexy']);
    expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
    expect(nudity).toBeCloseTo((shares['hentai'] ?? 0) + (shares['porn'] ?? 0), 3);
  });

  it('accepts JPEG and refuses PNG', async () => {
    const png = await over(drawing(64, 64)).png().toBuffer();
    expect(await faultOf(scanner.scan(png, never))).toContain('unsupported image format');
    expect(await scanner.scan(await jpeg(drawing(64, 64)), never)).toHaveProperty('nudity');
  });

  it('gives harmless pictures a nudity score below 0.85', async () => {
    for (const picture of [drawing(400, 400), photograph(512, 300)]) {
      expect((await scanner.scan(await jpeg(picture), never))['nudity']).toBeLessThan(0.85);
    }
  });

  it('scans gray, tiny and narrow pictures', async () => {
    const grey = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#777' } })
      .toColourspace('b-w')
      .jpeg()
      .toBuffer();
    for (const picture of [grey, await jpeg(drawing(1, 1)), await jpeg(drawing(512, 2))]) {
      expect(Object.keys(await scanner.scan(picture, never))).toHaveLength(6);
    }
  });

  it('refuses bytes that are not a picture, and scans the next one', async () => {
    const fault = await faultOf(scanner.scan(Buffer.from('no picture'), never));
    expect(fault).toMatch(/^refused: the scanner cannot scan this picture: /);
    expect(await scanner.scan(await jpeg(drawing(64, 64)), never)).toHaveProperty('nudity');
  });
});

describe('the process of an embedded scanner', () => {
  const running = (code: string, options: Partial<EmbeddedScannerOptions> = {}) => {
    const file = join(folder, `${Math.random().toString(36).slice(2)}.mjs`);
    writeFileSync(file, code);
    return open({ entry: pathToFileURL(file), ...options });
  };
  const READY = 'process.send({ ready: true });';
  const answering = (answer: string) =>
    `process.on('message', (picture) => { ${answer} }); ${READY}`;
  const scan = (scanner: Scanner) => scanner.scan(Buffer.from('x'), never);
  /** A file that the process creates when it reaches this point, with its process id. */
  const marking = () => {
    const mark = join(folder, Math.random().toString(36).slice(2));
    const write = `process.getBuiltinModule('fs').writeFileSync('${mark}', String(process.pid));`;
    return { mark, saysSo: write };
  };
  const expectKilled = (mark: string) =>
    expect.poll(() => isProcessAlive(Number(readFileSync(mark, 'utf8')))).toBe(false);

  it('is killed if it hangs, and another one scans the next picture', async () => {
    const { mark, saysSo } = marking();
    const hang = `{ ${saysSo} for (;;); }`;
    const hangs = answering(`if (picture[0] === 120) ${hang} else process.send({ scores: {} });`);
    const scanner = running(hangs, { deadline_ms: 2000 });
    const next = [scan(scanner), scanner.scan(Buffer.from('y'), never)] as const;
    expect(await faultOf(next[0])).toBe('away: the scanner gave no answer in time');
    expect(await next[1]).toEqual({});
    await expectKilled(mark);
  });

  it('refuses the picture if it dies during the scan', async () => {
    const scanner = running(answering(`console.error('no memory'); process.exit(3);`));
    expect(await faultOf(scan(scanner))).toMatch(/^refused: .*ended while it scanned this picture/);
    expect(scanner.isResting()).toBe(false);
  });

  it('refuses the picture and is killed if it sends an invalid score', async () => {
    const { mark, saysSo } = marking();
    const scanner = running(answering(`${saysSo} process.send({ scores: { nudity: 7 } });`));
    expect(await faultOf(scan(scanner))).toMatch(/^refused: /);
    await expectKilled(mark);
  });

  it('is reported as away with its error output if it does not start, and rests after five attempts', async () => {
    const scanner = running(`throw new Error('no such model')`);
    expect(await faultOf(scan(scanner))).toMatch(/^away: .*did not start: [\s\S]*no such model/);
    for (let time = 2; time <= 5; time++) {
      expect(scanner.isResting()).toBe(false);
      await faultOf(scan(scanner));
    }
    expect(scanner.isResting()).toBe(true);
  });

  it('inherits no environment and scans one picture at a time', async () => {
    const says = `process.send({ scores: Object.fromEntries(Object.keys(process.env).map((name) => [name, 0])) })`;
    const scanner = running(
      `let busy = 0; process.on('message', () => {
         busy += 1;
         if (busy > 1) process.exit(1);
         setTimeout(() => { busy -= 1; ${says}; }, 5);
       }); ${READY}`,
    );
    const found = await Promise.all([1, 2, 3].map(() => scan(scanner)));
    expect(found).toEqual([{}, {}, {}]);
  });

  it('ends when it is idle, and a new one starts for the next picture', async () => {
    const scanner = running(answering('process.send({ scores: { pid: process.pid / 1e9 } })'), {
      idle_ms: 1,
    });
    const first = (await scan(scanner))['pid'] ?? 0;
    await expect.poll(() => isProcessAlive(Math.round(first * 1e9))).toBe(false);
    expect((await scan(scanner))['pid']).not.toBe(first);
  });

  it('is killed if the scan is aborted while it starts', async () => {
    const ending = new AbortController();
    const { mark, saysSo } = marking();
    const scanner = running(`${saysSo} setInterval(() => undefined, 1000);`);
    const work = scanner.scan(Buffer.from('x'), ending.signal);
    await expect.poll(() => existsSync(mark)).toBe(true);
    ending.abort(new Error('the process ends'));
    expect(await faultOf(work)).toBe('Error: the process ends');
    await expectKilled(mark);
  });

  it('is killed if the scan is aborted while it scans', async () => {
    const ending = new AbortController();
    const { mark, saysSo } = marking();
    const scanner = running(answering(saysSo));
    const work = scanner.scan(Buffer.from('x'), ending.signal);
    await expect.poll(() => existsSync(mark)).toBe(true);
    ending.abort(new Error('the process ends'));
    expect(await faultOf(work)).toBe('Error: the process ends');
    await expectKilled(mark);
  });
});
