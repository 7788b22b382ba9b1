/**
 * Sanitizes one upload in the decoder: first the header, then one decode, oriented and in sRGB; from it the master in
 * its own format without metadata, the half-way images that renders read, and the permanent facts. Spec: What the
 * service does; Limits, Uploads.
 */
import { MEZZANINE_LONG_EDGES_PX } from '../../core/limits.ts';
import { withLoaders } from '../sandbox/loaders.ts';
import type { AskAdmission, JobCost } from '../sandbox/serve-jobs.ts';
import { analyze } from './analyze.ts';
import { decodeTiles } from './avif-tiles.ts';
import { dropUnknownOrientation } from './change-tiff.ts';
import { estimateCost } from './decode-cost.ts';
import { dropTexts } from './drop-texts.ts';
import { encodeMaster, encodeMezzanine, masterType, mezzanineChroma } from './encode-stored.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { IngestResult, MezzanineImage } from './ingest-result.ts';
import { dropTrailer } from './media-boxes.ts';
import { readCapture } from './metadata/capture.ts';
import { rebuildMetadata } from './metadata/rebuild-metadata.ts';
import { decodeOnce, type Pixels, shrinkTo, withProfile } from './pixels.ts';
import { rearrangeTiff } from './rearrange-tiff.ts';
import { type HeaderFacts, scanImage } from './scan.ts';
import { decodeOptions, readSource, type SourceTraits } from './source-traits.ts';
import { storedHeader } from './stored-quality.ts';
import { isTooLong } from './stored-size.ts';
import { ingestSvg } from './svg/ingest-svg.ts';

/**
 * Throws IngestRefusal when the image itself is at fault. Nothing is decoded before it has been
 * admitted.
 */
export async function sanitize(
  bytes: Buffer,
  declaredType: string,
  ask: AskAdmission = async () => true,
): Promise<IngestResult> {
  if (declaredType === 'image/svg+xml') {
    return decoding([declaredType], () => ingestSvg(bytes, (cost) => admission(cost, ask)));
  }
  const header = scanImage(bytes, declaredType);
  await admission(estimateCost(header, bytes), ask);
  return decoding(loadersFor(header), () => sanitizeScanned(bytes, header));
}

async function admission(cost: JobCost, ask: AskAdmission): Promise<void> {
  if (await ask(cost)) return;
  throw new IngestRefusal('image_too_large', `about ${cost.memory_bytes} bytes of memory`);
}

/**
 * An AVIF with colors described by numbers, or with premultiplied alpha, first becomes a PNG of
 * ours.
 */
function loadersFor({ content_type, colors, is_premultiplied }: HeaderFacts): string[] {
  const isAnew = colors !== undefined || is_premultiplied === true;
  return isAnew ? [content_type, 'image/png'] : [content_type];
}

async function decoding<T>(contentTypes: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await withLoaders(contentTypes, work);
  } catch (error) {
    throw refusalOf(error);
  }
}

async function sanitizeScanned(bytes: Buffer, header: HeaderFacts): Promise<IngestResult> {
  const source = await withProfile(await readSource(await decodable(bytes, header), header));
  const pixels = await decodeOnce(source);
  const master = await encodeMaster(pixels, storedHeader(source), bytes.length);
  if (isTooLong(master.length, bytes.length)) {
    throw new IngestRefusal('image_too_large', `${master.length} bytes when re-encoded`);
  }
  const { mezzanines, smallest } = await makeMezzanines(pixels, header);
  const metadata = rebuildMetadata(source.metadata, pixels);
  const isDescribed = source.metadata.icc === undefined || metadata.icc !== undefined;
  return {
    content_type: masterType(header),
    width: pixels.width,
    height: pixels.height,
    has_alpha: header.has_alpha,
    is_lossless: header.is_lossless,
    ...(await analyze(smallest)),
    ...readCapture(source),
    master,
    native: isDescribed ? await encodeNative(source, header) : null,
    mezzanines,
    metadata,
  };
}

/** The bytes in a form that the decoder's library accepts. */
async function decodable(bytes: Buffer, header: HeaderFacts): Promise<Buffer> {
  const { content_type, layout, tiles = [] } = header;
  if (content_type === 'image/avif') {
    const avif = dropTrailer(bytes);
    await decodeTiles(avif, tiles, decodeOptions(header));
    return avif;
  }
  if (content_type === 'image/png') return dropTexts(bytes);
  if (content_type !== 'image/tiff') return bytes;
  const turned = dropUnknownOrientation(bytes);
  return layout === undefined ? turned : rearrangeTiff(turned, layout);
}

/** Each is made from the one before, so that the image is read in full only once. */
async function makeMezzanines(pixels: Pixels, header: HeaderFacts) {
  const shrunk: { long_edge: number; pixels: Pixels }[] = [];
  let smallest = pixels;
  for (const long_edge of MEZZANINE_LONG_EDGES_PX) {
    if (Math.max(pixels.width, pixels.height) <= long_edge) continue;
    smallest = await shrinkTo(smallest, long_edge);
    shrunk.push({ long_edge, pixels: smallest });
  }
  if (shrunk.length === 0) return { mezzanines: [], smallest };
  const halfWay = { ...header, chroma: await mezzanineChroma(smallest, header) };
  const mezzanines: MezzanineImage[] = [];
  for (const { long_edge, pixels: half } of shrunk) {
    const { width, height } = half;
    mezzanines.push({ long_edge, width, height, ...(await encodeMezzanine(half, halfWay)) });
  }
  return { mezzanines, smallest };
}

/**
 * The image in its own color space for raw downloads, which also keep its profile; null when there
 * is none.
 */
async function encodeNative(source: SourceTraits, header: HeaderFacts): Promise<Buffer | null> {
  if (!source.has_native) return null;
  return encodeMaster(
    await decodeOnce({ ...source, keeps_space: true }),
    header,
    source.bytes.length,
  );
}

/**
 * libvips requests memory that follows from the header and was admitted; if it gets less, the
 * machine has no more.
 */
const SHORT_OF_MEMORY = /out of memory -- size/;

/**
 * The library's messages for an image with too many pixels, and for tiles far larger than the
 * image.
 */
const TOO_LARGE = /pixel limit|tile size out of range/i;

/**
 * Any other error of libvips here is about these bytes: everything else was settled by the header.
 */
function refusalOf(error: unknown): unknown {
  if (error instanceof IngestRefusal || !(error instanceof Error)) return error;
  if (SHORT_OF_MEMORY.test(error.message)) return error;
  const code = TOO_LARGE.test(error.message) ? 'image_too_large' : 'decode_failed';
  return new IngestRefusal(code, error.message);
}
