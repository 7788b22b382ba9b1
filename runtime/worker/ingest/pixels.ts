/**
 * A decoded image that several encoders read: held as raw samples if they are few enough, otherwise as the upload's own
 * bytes, which each reader decodes again, so that memory stays bounded by the input.
 */
import sharp, { type Raw, type Sharp, type SharpOptions } from 'sharp';
import { attachIccProfile, attachProfile } from './colors/attach-profile.ts';
import type { InkTable } from './colors/ink-table.ts';
import { printColors } from './colors/print-colors.ts';
import { unmultiply } from './colors/unmultiply.ts';
import { decodeBmp } from './decode-bmp.ts';
import { resizeWithAlpha, WEIGHED_PIXELS_MAX } from './resize-with-alpha.ts';
import { type HeaderFacts, sampleBytesOf } from './scan.ts';
import { decodeOptions, type SourceTraits } from './source-traits.ts';

export type Pixels = {
  width: number;
  height: number;
  has_alpha: boolean;
  /** A fresh pipeline over the oriented image. */
  open(): Sharp;
  /** The color space in which the samples can be written unchanged. */
  space: OutputSpace;
};

type OutputSpace = 'b-w' | 'srgb' | 'grey16' | 'rgb16' | 'cmyk';

/**
 * A larger image is decoded again for each use instead of being held, unless its inks were
 * converted here.
 */
export const HELD_BYTES_MAX = 160_000_000;
const CHANNELS_MAX = 4;

export async function decodeOnce(source: SourceTraits): Promise<Pixels> {
  const { header } = source;
  if (header.content_type === 'image/bmp') return readBmp(source.bytes);
  if (source.inks !== undefined && !source.keeps_space) return readInks(source, source.inks);
  const space = outputSpace(source);
  const open = () => openUpload(source, space);
  if (header.width * header.height * CHANNELS_MAX * sampleBytesOf(header) <= HELD_BYTES_MAX) {
    return decodeRaw(open(), space, header);
  }
  const { autoOrient } = await sharp(source.bytes, decodeOptions(header)).metadata();
  const { width, height } = autoOrient;
  return { width, height, has_alpha: header.has_alpha, open, space };
}

/**
 * An image whose container describes its colors by numbers: upright, and with a profile of them.
 */
export async function withProfile(source: SourceTraits): Promise<SourceTraits> {
  const { content_type, colors, is_premultiplied } = source.header;
  if (is_premultiplied) return withProfile(await unmultiplied(source));
  if (content_type === 'image/png' || colors === undefined) return source;
  const png = await openUpload(source, outputSpace(source)).png({ compressionLevel: 0 }).toBuffer();
  return { ...source, bytes: attachProfile(png, colors), is_converted: true };
}

/** A PNG with unmultiplied colors, upright, with the original profile. */
async function unmultiplied(source: SourceTraits): Promise<SourceTraits> {
  const { header, is_converted } = source;
  const isDeep = header.bits_per_channel > 8;
  const space = isDeep ? 'rgb16' : 'srgb';
  const { data, info } = await openUpload({ ...source, keeps_space: true }, space)
    .ensureAlpha()
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const samples = isDeep ? toUint16Samples(data) : data;
  unmultiply(samples);
  const raw: Raw = { width: info.width, height: info.height, channels: info.channels };
  const png = await overSamples(samples, { raw }, space)
    .open()
    .png({ compressionLevel: 0 })
    .toBuffer();
  const { icc } = await sharp(source.bytes, decodeOptions(header)).metadata();
  const bytes = is_converted && icc !== undefined ? attachIccProfile(png, icc) : png;
  return { ...source, bytes, header: { ...header, is_premultiplied: false } };
}

/** The same image with this long edge in pixels, as 8-bit samples. */
export async function shrinkTo(pixels: Pixels, longEdge: number): Promise<Pixels> {
  const ratio = Math.min(1, longEdge / Math.max(pixels.width, pixels.height));
  const width = shrunkSide(pixels.width, ratio);
  const height = shrunkSide(pixels.height, ratio);
  const space = pixels.space === 'b-w' || pixels.space === 'grey16' ? 'b-w' : 'srgb';
  if (isWeighed(pixels)) {
    const rgba = await pixels.open().toColourspace('srgb').raw().toBuffer();
    const from = { width: pixels.width, height: pixels.height };
    const samples = await resizeWithAlpha(rgba, from, { width, height });
    return overSamples(samples, { raw: { width, height, channels: CHANNELS_MAX } }, space);
  }
  const shrunk = pixels.open().resize({ width, height, fit: 'fill' });
  return readRaw(shrunk, { space, has_alpha: pixels.has_alpha });
}

const SIDE_STEP = 8;

/** Only 8-bit images: deeper ones lose nothing visible. */
function isWeighed({ width, height, has_alpha, space }: Pixels): boolean {
  const isDeep = space === 'rgb16' || space === 'grey16';
  return has_alpha && !isDeep && width * height <= WEIGHED_PIXELS_MAX;
}

/**
 * The short side is slightly longer than in proportion, as each axis is read with its own scale: a
 * JPEG decoder can reduce blocks of eight without a remainder.
 */
function shrunkSide(side: number, ratio: number): number {
  return Math.max(1, Math.min(side, Math.ceil((side * ratio) / SIDE_STEP) * SIDE_STEP));
}

function outputSpace({ header, space, keeps_space }: SourceTraits): OutputSpace {
  if (keeps_space && space === 'cmyk') return 'cmyk';
  const isDeep = header.bits_per_channel > 8;
  if (space === 'grey') return isDeep ? 'grey16' : 'b-w';
  return isDeep ? 'rgb16' : 'srgb';
}

function openUpload(source: SourceTraits, space: OutputSpace): Sharp {
  const options = {
    ...decodeOptions(source.header),
    autoOrient: true,
    ignoreIcc: source.keeps_space || !source.is_converted,
  };
  const picture = sharp(source.bytes, options).toColourspace(space);
  if (space === 'cmyk') return picture.pipelineColourspace('cmyk');
  // By default the library converts deep images to Display P3, and deep grey ones not at all.
  const isDeep = space === 'rgb16' || space === 'grey16';
  return isDeep && !options.ignoreIcc ? picture.withIccProfile('srgb', { attach: false }) : picture;
}

/** Uses our own reader: libvips has none. */
function readBmp(bytes: Buffer): Pixels {
  const { data, ...raw } = decodeBmp(bytes);
  return overSamples(data, { raw }, 'srgb');
}

/** Held whatever its size, because decoding it again with the library would be less exact. */
async function readInks(source: SourceTraits, inks: InkTable): Promise<Pixels> {
  const isDeep = source.header.bits_per_channel > 8;
  const { data, info } = await openUpload({ ...source, keeps_space: true }, 'cmyk')
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const samples = isDeep ? toUint16Samples(data) : data;
  const printed = printColors(samples, channels, inks);
  const raw: Raw = { width, height, channels: channels === 4 ? 3 : 4 };
  return overSamples(printed, { raw }, isDeep ? 'rgb16' : 'srgb');
}

async function decodeRaw(picture: Sharp, space: OutputSpace, header: HeaderFacts): Promise<Pixels> {
  const { bits_per_channel, has_alpha } = header;
  return bits_per_channel > 8 ? readDeep(picture, space) : readRaw(picture, { space, has_alpha });
}

async function readRaw(
  picture: Sharp,
  { space, has_alpha }: Pick<Pixels, 'space' | 'has_alpha'>,
): Promise<Pixels> {
  // The library's raw grey samples have no alpha; equal red, green and blue have it.
  const readAs = space === 'b-w' && has_alpha ? 'srgb' : space;
  const opened = picture.toColourspace(readAs).raw();
  const { data, info } = await opened.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return overSamples(data, { raw: { width, height, channels } }, space);
}

async function readDeep(picture: Sharp, space: OutputSpace): Promise<Pixels> {
  const { data, info } = await picture
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true });
  const samples = toUint16Samples(data);
  const { width, height, channels } = info;
  return overSamples(samples, { raw: { width, height, channels } }, space);
}

/** The same bytes as samples of 16 bits. */
export function toUint16Samples(data: Buffer): Uint16Array {
  return new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2);
}

function overSamples(
  samples: Uint8Array | Uint16Array,
  options: SharpOptions & { raw: Raw },
  space: OutputSpace,
): Pixels {
  const { width, height, channels } = options.raw;
  const open = () => sharp(samples, { ...options, limitInputPixels: false }).toColourspace(space);
  return { width, height, has_alpha: channels % 2 === 0, open, space };
}
