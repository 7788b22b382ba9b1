// Thousands of hostile files through the real decoders: each becomes ready or is rejected with a documented code in
// time, no decoder dies, memory is released, and independent decoders accept everything that is stored. Spec:
// Processing error codes.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IngestRefusal } from '../../../../runtime/worker/ingest/ingest-refusal.ts';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { sanitizeSvg } from '../../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import { residentBytes } from '../../../../runtime/worker/sandbox/memory.ts';
import type { Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { bombs, type HostileFile, hostileCorpus } from '../../../support/hostile-corpus.ts';
import {
  type Outcome,
  outcomesOf,
  printTable,
  startDecoders,
} from '../../../support/hostile-run.ts';
import { soundSources } from '../../../support/hostile-sources.ts';
import { complaintsAbout, type Stored } from '../../../support/judges.ts';

const CODES = [
  'ready',
  'unsupported_media_type',
  'animated_not_supported',
  'image_too_large',
  'decode_failed',
];
const FILES_MIN = 1500;
/** Memory that the allocators of both decoders may keep for the next file. */
const MEMORY_KEPT_MAX = 700_000_000;

let sandbox: Sandbox;

beforeAll(() => {
  sandbox = startDecoders();
});

afterAll(() => sandbox.close());

async function* sound(): AsyncGenerator<HostileFile> {
  for (const source of await soundSources()) yield { ...source, family: 'sound' };
}

it('every hostile file is ready or gets a documented code, and other decoders read whatever is stored', async () => {
  const stored: Stored[] = [];
  const outcomes: { file: HostileFile; result: string }[] = [];
  for await (const { result } of outcomesOf(sandbox, sound())) expect(result).toBe('ready');
  const atRest = measureChildren();
  for await (const outcome of outcomesOf(sandbox, hostileCorpus({ seeds: 0.1 }))) {
    const { file, result } = outcome;
    outcomes.push({ file: { ...file, bytes: Buffer.alloc(0) }, result });
    stored.push(...outcome.stored.filter(isJudged));
  }
  process.stdout.write(`${printTable(outcomes)}\n`);
  const undocumented = outcomes.filter(({ result }) => !CODES.includes(result));
  expect(undocumented.map(({ file, result }) => `${file.name}: ${result}`)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(FILES_MIN);
  const after = measureChildren();
  expect(after.pids).toEqual(atRest.pids);
  expect(after.bytes - atRest.bytes).toBeLessThan(MEMORY_KEPT_MAX);
  expect(await complaintsAbout(stored)).toEqual([]);
}, 900_000);

/** Debian's ImageMagick rejects longer sides. */
const JUDGED_SIDE_MAX = 16_000;

function isJudged({ content_type, width, height }: Outcome['stored'][number]): boolean {
  return content_type !== 'image/svg+xml' && Math.max(width, height) <= JUDGED_SIDE_MAX;
}

/** The decoders, including the processes that enclose them. */
function measureChildren() {
  const listed = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim();
  const pids = listed.split(' ').map(Number);
  return { pids, bytes: pids.reduce((sum, pid) => sum + residentBytes(pid), 0) };
}

it('an image of excessive size is rejected by its header, before anything is decoded', async () => {
  const wrong: string[] = [];
  for await (const { name, bytes, content_type, header_code } of bombs()) {
    if (header_code === undefined) continue;
    const code = refusalBeforeDecoding(bytes, content_type);
    if (code !== header_code) wrong.push(`${name}: ${code}, not ${header_code}`);
  }
  expect(wrong).toEqual([]);
});

function refusalBeforeDecoding(bytes: Buffer, contentType: string): string {
  try {
    if (contentType === 'image/svg+xml') sanitizeSvg(bytes);
    else scanImage(bytes, contentType);
    return 'taken';
  } catch (error) {
    return error instanceof IngestRefusal ? error.code : String(error);
  }
}
