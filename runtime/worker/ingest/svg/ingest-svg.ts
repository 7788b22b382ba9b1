/**
 * Processes an SVG upload in the decoder: sanitized, and drawn once on its raster grid. The vector is stored and
 * served, the grid is stored as the largest half-way image, which is all that renders ever read of it. Spec: Limits,
 * Uploads (SVG); Transform operations (format).
 */
import sharp from 'sharp';
import { sniffContentType } from '../../../core/image/formats.ts';
import { MEZZANINE_LONG_EDGES_PX, SVG_RASTER_PIXELS_MAX } from '../../../core/limits.ts';
import type { JobCost } from '../../sandbox/serve-jobs.ts';
import { analyze } from '../analyze.ts';
import { drawingCost } from '../decode-cost.ts';
import { IngestRefusal } from '../ingest-refusal.ts';
import type { IngestResult, MezzanineImage } from '../ingest-result.ts';
import { type Pixels, shrinkTo } from '../pixels.ts';
import { DRAWING_DENSITY } from './raster-grid.ts';
import { sanitizeSvg } from './sanitize-svg.ts';

/**
 * Throws IngestRefusal, or the renderer's error. Parsed before it is admitted, like headers; drawn
 * after.
 */
export async function ingestSvg(
  bytes: Buffer,
  admit: (cost: JobCost) => Promise<void>,
): Promise<IngestResult> {
  const sniffed = sniffContentType(bytes);
  if (sniffed !== 'image/svg+xml') {
    throw new IngestRefusal('unsupported_media_type', `${sniffed ?? 'unknown'}, not image/svg+xml`);
  }
  const { vector, drawing, needs } = sanitizeSvg(bytes);
  await admit(drawingCost(bytes, needs));
  const grid = await draw(drawing);
  const { mezzanines, smallest } = await makeMezzanines(grid);
  return {
    content_type: 'image/svg+xml',
    width: grid.width,
    height: grid.height,
    has_alpha: grid.has_alpha,
    is_lossless: true,
    ...(await analyze(smallest)),
    location: null,
    taken_at: null,
    master: Buffer.from(vector),
    native: null,
    mezzanines,
    metadata: {},
  };
}

async function draw(drawing: string): Promise<Pixels> {
  const { data, info } = await sharp(Buffer.from(drawing), {
    density: DRAWING_DENSITY,
    failOn: 'error',
    limitInputPixels: SVG_RASTER_PIXELS_MAX,
    unlimited: false,
  })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const open = () => sharp(data, { raw: { width, height, channels } });
  return { width, height, open, space: 'srgb', has_alpha: isSeenThrough(data) };
}

function isSeenThrough(rgba: Buffer): boolean {
  for (let at = 3; at < rgba.length; at += 4) if (rgba[at] !== 255) return true;
  return false;
}

/** The grid itself, and the half-way images that a raster image of its size would have. */
async function makeMezzanines(grid: Pixels) {
  const longEdge = Math.max(grid.width, grid.height);
  const mezzanines = [await encode(grid)];
  let smallest = grid;
  for (const edge of MEZZANINE_LONG_EDGES_PX.filter((one) => one < longEdge)) {
    smallest = await shrinkTo(smallest, edge);
    mezzanines.push(await encode(smallest));
  }
  return { mezzanines, smallest };
}

/** Drawings have flat areas, which row filters would make larger. */
async function encode({ width, height, open }: Pixels): Promise<MezzanineImage> {
  const bytes = await open().png({ compressionLevel: 6, adaptiveFiltering: false }).toBuffer();
  return { long_edge: Math.max(width, height), width, height, content_type: 'image/png', bytes };
}
