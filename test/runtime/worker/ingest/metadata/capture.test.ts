// Location and time of capture, compared with ExifTool's reading of the same EXIF blocks: written by cameras,
// misleading, and random. Spec: File (location).
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Capture,
  readCapture,
} from '../../../../../runtime/worker/ingest/metadata/capture.ts';
import { agreed, randomSources, refused } from '../../../../support/capture-blocks.ts';
import { type ExifSource, jpegWithExif, printExif } from '../../../../support/exif.ts';
import { over, photograph } from '../../../../support/pictures.ts';

let jpeg: Buffer;

beforeAll(async () => {
  jpeg = await over(photograph(16, 16)).jpeg().toBuffer();
});

type Tags = Readonly<Record<string, string | number | undefined>>;

/** ExifTool's reading of all blocks, in one call. */
async function judge(sources: readonly ExifSource[]): Promise<Partial<Capture>[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-capture-'));
  try {
    const names = sources.map((_, index) => `${String(index).padStart(4, '0')}.jpg`);
    for (const [index, source] of sources.entries()) {
      await writeFile(join(folder, names[index] ?? ''), jpegWithExif(jpeg, printExif(source)));
    }
    const args = ['-json', '-n', '-m', '-q', '-GPS*', '-DateTimeOriginal', '-*TimeOriginal'];
    const run = await promisify(execFile)('exiftool', [...args, ...names], {
      cwd: folder,
      maxBuffer: 1e8,
    });
    return (JSON.parse(run.stdout) as Tags[]).map(asCapture);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function asCapture(tags: Tags): Capture {
  const [latitude, longitude] = [tags.GPSLatitude, tags.GPSLongitude];
  const isPlace = typeof latitude === 'number' && typeof longitude === 'number';
  const { DateTimeOriginal, OffsetTimeOriginal = 'Z', SubSecTimeOriginal = '0' } = tags;
  const [day = '', clock] = String(DateTimeOriginal ?? '').split(' ');
  const taken = `${day.replaceAll(':', '-')}T${clock}.${SubSecTimeOriginal}${OffsetTimeOriginal}`;
  return {
    location: isPlace ? { latitude, longitude } : null,
    taken_at: DateTimeOriginal === undefined ? null : new Date(taken).toISOString(),
  };
}

const read = (source: ExifSource) => readCapture({ exif: printExif(source) });

/** Allows for rounding: ExifTool rounds degrees, minutes and seconds to ten digits each. */
function expectSame(ours: Capture, theirs: Partial<Capture> | undefined): void {
  expect(ours.taken_at).toBe(theirs?.taken_at);
  expect(ours.location === null).toBe(theirs?.location === null);
  for (const axis of ['latitude', 'longitude'] as const) {
    const [one, other] = [ours.location?.[axis] ?? 0, theirs?.location?.[axis] ?? 0];
    expect(Math.abs(one - other)).toBeLessThan(2e-7);
  }
}

describe('location and capture time in EXIF', () => {
  it.each(agreed)('are read: %s', (_name, source, expected) => {
    expect(read(source)).toMatchObject(expected);
  });

  it('are read as ExifTool reads them in all of these cases', async () => {
    const theirs = await judge(agreed.map(([, source]) => source));
    for (const [index, [, source]] of agreed.entries()) expectSame(read(source), theirs[index]);
  });

  it.each(refused)(
    'are read strictly where ExifTool shows the raw value or guesses: %s',
    (_name, source, expected) => {
      expect(read(source)).toMatchObject(expected);
    },
  );

  it('are read as ExifTool reads them from random values', async () => {
    const sources = fc.sample(randomSources(), { numRuns: 300, seed: 20_240_506 });
    const theirs = await judge(sources);
    for (const [index, source] of sources.entries()) expectSame(read(source), theirs[index]);
  });
});
