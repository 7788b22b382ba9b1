/** Image files: the header parsers that run before any decoder, and the code that rewrites containers. */
import assert from 'node:assert/strict';
import { SNIFF_BYTES, sniffContentType } from '../../../runtime/core/image/formats.ts';
import { HEAD_BYTES, splices } from '../../../runtime/delivery/raw/splice.ts';
import { changeTiff } from '../../../runtime/worker/ingest/change-tiff.ts';
import { decodeBmp } from '../../../runtime/worker/ingest/decode-bmp.ts';
import { estimateCost } from '../../../runtime/worker/ingest/decode-cost.ts';
import { IngestRefusal } from '../../../runtime/worker/ingest/ingest-refusal.ts';
import { type HeaderFacts, scanImage } from '../../../runtime/worker/ingest/scan.ts';
import { openTiff } from '../../../runtime/worker/ingest/tiff-directory.ts';
import { tag } from '../../../runtime/worker/ingest/tiff-tags.ts';
import { type Source, soundSources } from '../../support/hostile-sources.ts';
import { bytes, refusals, type Target } from '../target.ts';

const LENGTH_MAX = 16_384;
const PIXELS_MAX = 65_535 * 65_535;

const TYPES = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp'] as const;

let made: Promise<Source[]> | undefined;
const sources = () => {
  made ??= soundSources();
  return made;
};

const seedsOf = (type: string) => async () =>
  (await sources())
    .filter(({ content_type }) => content_type === `image/${type}`)
    .map(({ bytes: file }) => file);

function assertSane(facts: HeaderFacts, file: Buffer): void {
  const { width, height, quality } = facts;
  assert.ok(Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0);
  assert.ok(width * height <= PIXELS_MAX);
  assert.ok(quality === null || (quality >= 0 && quality <= 100), `quality ${quality}`);
  const cost = Object.values(estimateCost(facts, file));
  assert.ok(
    cost.every((each) => Number.isFinite(each) && each >= 0),
    JSON.stringify(cost),
  );
}

function scanTarget(type: (typeof TYPES)[number]): Target {
  return bytes({
    name: `header-of-${type}`,
    length_max: LENGTH_MAX,
    seeds: seedsOf(type),
    run(input) {
      const facts = scanImage(input, `image/${type}`);
      assertSane(facts, input);
      return facts;
    },
    refuses: refusals(IngestRefusal),
  });
}

const magic = bytes({
  name: 'magic-numbers',
  length_max: SNIFF_BYTES,
  seeds: async () => (await sources()).map(({ bytes: file }) => file.subarray(0, SNIFF_BYTES)),
  run: (input) => sniffContentType(input) ?? undefined,
});

const AREA_MAX = 1_000_000;

/** BMP is the only format that Tintype decodes itself. */
const bmpPixels = bytes({
  name: 'pixels-of-bmp',
  length_max: LENGTH_MAX,
  seeds: seedsOf('bmp'),
  run(input) {
    const { width, height } = scanImage(input, 'image/bmp');
    if (width * height > AREA_MAX) return undefined;
    const pixels = decodeBmp(input);
    assert.deepEqual([pixels.width, pixels.height], [width, height]);
    assert.equal(pixels.data.length, width * height * pixels.channels);
    return pixels.channels;
  },
  refuses: (error) => refusals(IngestRefusal)(error) || refusals(RangeError)(error),
});

const tiffRewriting = bytes({
  name: 'rewriting-of-tiff',
  length_max: LENGTH_MAX,
  seeds: seedsOf('tiff'),
  run(input) {
    scanImage(input, 'image/tiff');
    const changed = changeTiff(input, { [tag.orientation]: [1] });
    assert.ok(changed.length <= input.length + LENGTH_MAX);
    const { first, directory } = openTiff(changed);
    assert.equal(directory(first).number(tag.orientation), 1);
    return changed;
  },
  refuses: (error) => refusals(IngestRefusal)(error) || refusals(RangeError)(error),
});

const METADATA = {
  exif: Buffer.from('II*\0\x08\0\0\0\0\0\0\0\0\0', 'latin1'),
  xmp: Buffer.from('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'),
  icc: Buffer.alloc(200, 1),
};

/** Inserting metadata into one of our stored images must not change the image. */
function spliceTarget(type: 'jpeg' | 'png' | 'webp'): Target {
  return bytes({
    name: `metadata-into-${type}`,
    length_max: LENGTH_MAX,
    seeds: seedsOf(type),
    async run(input) {
      const before = scanImage(input, `image/${type}`);
      const { width, height, has_alpha } = before;
      const image = {
        head: input.subarray(0, HEAD_BYTES),
        size_bytes: input.length,
        width,
        height,
        has_alpha,
      };
      const spliced = await splices[`image/${type}`]?.(image, METADATA);
      if (spliced === undefined) return undefined;
      const { before: front, from, behind } = spliced;
      const file = Buffer.concat([front, input.subarray(from), behind]);
      assert.ok(file.length <= input.length + 2000);
      assert.equal(sniffContentType(file.subarray(0, SNIFF_BYTES)), `image/${type}`);
      return file;
    },
    refuses: (error) => refusals(IngestRefusal)(error) || refusals(RangeError)(error),
  });
}

export const imageTargets: readonly Target[] = [
  ...TYPES.map(scanTarget),
  magic,
  bmpPixels,
  tiffRewriting,
  ...(['jpeg', 'png', 'webp'] as const).map(spliceTarget),
];
