/**
 * Renders one derived image in the decoder: window, exact size, watermark, encoder. The same plan over the same bytes
 * gives the same bytes. Spec: Delivery host, Transform operations; Output rules.
 */
import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import type { Size } from '../../core/delivery/geometry.ts';
import type { Box } from '../../core/delivery/operations.ts';
import type { RenderPlan } from '../../core/delivery/plan.ts';
import { SNIFF_BYTES, sniffContentType } from '../../core/image/formats.ts';
import { withLoaders } from '../sandbox/loaders.ts';
import { encode } from './encoders.ts';

export type RenderInput = {
  /**
   * `window`: in pixels of these source bytes; `frame`: the size to which it is resized before the
   * output is cut out.
   */
  plan: Pick<RenderPlan, 'window' | 'output' | 'format' | 'quality' | 'watermark'> & {
    frame?: Box | undefined;
  };
  source: Buffer;
  watermark: Buffer | null;
};
export type RenderedImage = {
  bytes: Buffer;
  content_type: string;
  width: number;
  height: number;
};

const WHITE = '#ffffff';

export async function render(input: RenderInput): Promise<RenderedImage> {
  const types = [input.source, input.watermark].flatMap((bytes) =>
    bytes ? storedType(bytes) : [],
  );
  return withLoaders([...new Set(types)], () => renderLoaded(input));
}

async function renderLoaded({ plan, source, watermark }: RenderInput): Promise<RenderedImage> {
  const { output, format } = plan;
  const { picture, has_alpha } = await cut(source, plan);
  const resized = resize(picture, plan).toColourspace('srgb');
  const onWhite = format === 'jpeg' ? resized.flatten({ background: WHITE }) : resized;
  const drawn =
    watermark === null
      ? onWhite
      : onWhite.composite([await drawOverlay(plan.watermark, watermark)]);
  // Compositing adds an alpha channel even if all of it is opaque.
  const finished = has_alpha ? drawn : drawn.removeAlpha();
  const { data, info } = await encode(finished, plan).toBuffer({ resolveWithObject: true });
  if (info.width !== output.width || info.height !== output.height) {
    throw new Error(
      `rendered ${info.width}x${info.height}, planned ${output.width}x${output.height}`,
    );
  }
  return { bytes: data, content_type: `image/${format}`, ...output };
}

function resize(picture: Sharp, { output, frame }: RenderInput['plan']): Sharp {
  if (frame === undefined) return picture.resize({ ...output, fit: 'fill' });
  const { x: left, y: top, width, height } = frame;
  return picture.resize({ width, height, fit: 'fill' }).extract({ left, top, ...output });
}

/**
 * Without an extract step libvips may skip pixels that the output does not need, while it decodes.
 * That is allowed only when there is no remainder, which would shift the image by up to half a
 * pixel of the output.
 */
async function cut(
  source: Buffer,
  { window, output }: RenderInput['plan'],
): Promise<{ picture: Sharp; has_alpha: boolean }> {
  const picture = sharp(source, { failOn: 'error', limitInputPixels: false, sequentialRead: true });
  const { width, height, hasAlpha } = await picture.metadata();
  const { x: left, y: top } = window;
  const isWhole = left === 0 && top === 0 && window.width === width && window.height === height;
  return {
    picture:
      isWhole && isShrunkEvenly(window, output)
        ? picture
        : picture.extract({ left, top, width: window.width, height: window.height }),
    has_alpha: hasAlpha,
  };
}

const SHRINKS = [8, 4, 2];

/** JPEG decoders reduce by powers of two, at most to the output's size. */
function isShrunkEvenly(source: Size, output: Size): boolean {
  const times = Math.min(source.width / output.width, source.height / output.height);
  const shrink = SHRINKS.find((one) => one <= times) ?? 1;
  return source.width % shrink === 0 && source.height % shrink === 0;
}

async function drawOverlay(plan: RenderPlan['watermark'], bytes: Buffer): Promise<OverlayOptions> {
  if (plan === null) throw new Error('watermark bytes without a plan for them');
  const { width, height, x: left, y: top, opacity } = plan;
  const pixels = await sharp(bytes, { limitInputPixels: false })
    .resize({ width, height, fit: 'fill' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer();
  for (let at = 3; at < pixels.length; at += 4) {
    pixels[at] = Math.round(((pixels[at] ?? 0) * opacity) / 100);
  }
  return { input: pixels, raw: { width, height, channels: 4 }, left, top };
}

/** Stored bytes are our own, but they are decoded by their actual type, not by what a row says. */
function storedType(bytes: Buffer): string {
  const type = sniffContentType(bytes.subarray(0, SNIFF_BYTES));
  if (type === undefined) throw new Error('the stored bytes are not an image');
  return type;
}
