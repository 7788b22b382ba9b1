/** Blocks in image files: EXIF, XMP and color profiles, which are parsed and rebuilt. */
import assert from 'node:assert/strict';
import sharp from 'sharp';
import { readInkTable } from '../../../runtime/worker/ingest/colors/ink-table.ts';
import { readCapture } from '../../../runtime/worker/ingest/metadata/capture.ts';
import { judgeIccProfile } from '../../../runtime/worker/ingest/metadata/icc-profile.ts';
import { rebuildExif } from '../../../runtime/worker/ingest/metadata/rebuild-exif.ts';
import { rebuildIcc } from '../../../runtime/worker/ingest/metadata/rebuild-icc.ts';
import { rebuildXmp } from '../../../runtime/worker/ingest/metadata/rebuild-xmp.ts';
import { agreed, refused } from '../../support/capture-blocks.ts';
import { printExif } from '../../support/exif.ts';
import { adobeRgb, printGreyProfile, printMatrixProfile } from '../../support/icc.ts';
import { over, photograph } from '../../support/pictures.ts';
import { bytes, type Target } from '../target.ts';

const SIZE = { width: 300, height: 400 };
const BLOCK_BYTES_MAX = 65_000;
const LENGTH_MAX = 16_384;

function assertStable(
  rebuild: (block: Buffer) => Buffer | undefined,
  block: Buffer,
): Buffer | undefined {
  const once = rebuild(block);
  if (once === undefined) return undefined;
  const twice = rebuild(Buffer.from(once));
  assert.ok(twice?.equals(once), 'rebuilt again it is another');
  return once;
}

function assertPossible({ location, taken_at }: ReturnType<typeof readCapture>) {
  if (location !== null) {
    assert.ok(Math.abs(location.latitude) <= 90 && Math.abs(location.longitude) <= 180);
  }
  if (taken_at !== null) assert.equal(new Date(taken_at).toISOString(), taken_at);
}

const exif = bytes({
  name: 'exif',
  seeds: () => [...agreed, ...refused].map(([, source]) => printExif(source)),
  run(input) {
    const capture = readCapture({ exif: input });
    assertPossible(capture);
    const rebuilt = assertStable((block) => rebuildExif(block, SIZE), input);
    assert.ok((rebuilt?.length ?? 0) <= BLOCK_BYTES_MAX);
    return rebuilt && { ...capture, rebuilt };
  },
});

const packet = (description: string) =>
  Buffer.from(
    `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/">${description}</rdf:RDF></x:xmpmeta>${' '.repeat(40)}<?xpacket end="w"?>`,
  );

const xmp = bytes({
  name: 'xmp',
  seeds: () => [
    packet(
      '<rdf:Description exif:GPSLatitude="52,31.2N" exif:GPSLongitude="13,24,18E" xmp:CreateDate="2026-11-20T08:00:00+01:00" tiff:Orientation="6"/>',
    ),
    packet(
      '<rdf:Description><dc:title><rdf:Alt><rdf:li xml:lang="x-default">A &amp; &#66; <![CDATA[<c>]]></rdf:li></rdf:Alt></dc:title><exif:PixelXDimension>9</exif:PixelXDimension></rdf:Description>',
    ),
  ],
  run(input) {
    const capture = readCapture({ xmp: input });
    assertPossible(capture);
    const rebuilt = assertStable(rebuildXmp, input);
    assert.ok((rebuilt?.length ?? 0) <= BLOCK_BYTES_MAX);
    return rebuilt && { ...capture, rebuilt };
  },
});

async function profiles(): Promise<Buffer[]> {
  const named = await Promise.all(
    ['srgb', 'p3'].map(async (name) => {
      const jpeg = await over(photograph(8, 8)).jpeg().withIccProfile(name).toBuffer();
      return (await sharp(jpeg).metadata()).icc ?? Buffer.alloc(0);
    }),
  );
  return [...named, printMatrixProfile(adobeRgb), printGreyProfile(2.2)];
}

const icc = bytes({
  name: 'icc',
  length_max: LENGTH_MAX,
  seeds: profiles,
  run(input) {
    const verdicts = (['grey', 'rgb', 'cmyk'] as const).map((space) =>
      judgeIccProfile(input, space),
    );
    readInkTable(input);
    const rebuilt = assertStable(rebuildIcc, input);
    return rebuilt && { verdicts, rebuilt };
  },
});

export const metadataTargets: readonly Target[] = [exif, xmp, icc];
