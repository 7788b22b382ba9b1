/** The facts needed for decoding beyond the header: embedded metadata, color space, limits. */
import sharp, { type Metadata, type SharpOptions } from 'sharp';
import { findFormat, pixelLimit } from '../../core/image/formats.ts';
import { SAVED_METADATA_BYTES_MAX } from '../../core/limits.ts';
import { attachProfile } from './colors/attach-profile.ts';
import { type InkTable, readInkTable } from './colors/ink-table.ts';
import { usualInks } from './colors/usual-inks.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { SavedMetadata } from './ingest-result.ts';
import { judgeIccProfile } from './metadata/icc-profile.ts';
import type { HeaderFacts } from './scan.ts';

export type SourceTraits = {
  bytes: Buffer;
  header: HeaderFacts;
  /** What raw downloads restore; empty when the stored format has no place for it. */
  metadata: SavedMetadata;
  /** The sources of place and time. */
  exif: Buffer | undefined;
  xmp: Buffer | undefined;
  space: 'grey' | 'rgb' | 'cmyk';
  /**
   * The appearance of its four inks; undefined also when their profile is left to the decoder's
   * library.
   */
  inks: InkTable | undefined;
  /** The EXIF orientation; 1 is upright, as all images are stored. */
  orientation: number;
  /** The stored image is converted to sRGB, so its pixels differ from the upload's. */
  is_converted: boolean;
  /** The original pixels can be stored in addition to the converted ones. */
  has_native: boolean;
  /** Decodes without that conversion. */
  keeps_space: boolean;
};

export async function readSource(bytes: Buffer, header: HeaderFacts): Promise<SourceTraits> {
  if (header.content_type === 'image/bmp') return bareSource(bytes, header);
  if (header.content_type === 'image/png' && header.colors !== undefined) {
    const { colors: _, ...rest } = header;
    return readSource(attachProfile(bytes, header.colors), rest);
  }
  const seen = await sharp(bytes, decodeOptions(header)).metadata();
  const { exif, icc, xmp, channels, space } = seen;
  refusePages(header, seen);
  const kind = space === 'cmyk' ? 'cmyk' : channels !== undefined && channels < 3 ? 'grey' : 'rgb';
  const isCmyk = kind === 'cmyk';
  const verdict = icc === undefined ? 'broken' : judgeIccProfile(icc, kind);
  const isConverted = isCmyk || verdict === 'other';
  const { takes_metadata, stored_as } = formatOf(header);
  // A profile is kept only together with the pixels that it describes.
  const isLost = icc !== undefined && icc.length > SAVED_METADATA_BYTES_MAX;
  const hasNative =
    isConverted && takes_metadata && !isLost && !(isCmyk && stored_as === 'image/png');
  const isDescribed = verdict !== 'broken' && (hasNative || !isConverted);
  // The directories of a TIFF form an EXIF block themselves; rebuilding picks the known fields.
  const block = header.content_type === 'image/tiff' ? bytes : exif;
  const kept = {
    ...(block === bytes || isKept(block) ? { exif: block } : {}),
    ...(isDescribed && isKept(icc) ? { icc } : {}),
    ...(isKept(xmp) ? { xmp } : {}),
  };
  return {
    bytes,
    header,
    metadata: takes_metadata ? kept : {},
    exif: kept.exif,
    xmp: kept.xmp,
    space: kind,
    inks: isCmyk ? await readInks(icc, header) : undefined,
    orientation: seen.orientation ?? 1,
    is_converted: isConverted,
    has_native: hasNative,
    keeps_space: false,
  };
}

/** Without an ink profile, uses the inks built into the decoder's library. */
async function readInks(icc: Buffer | undefined, { content_type }: HeaderFacts) {
  const isOfInks = icc !== undefined && judgeIccProfile(icc, 'cmyk') !== 'broken';
  return isOfInks ? readInkTable(icc) : usualInks(content_type);
}

/** For a BMP, which contains only pixels. */
function bareSource(bytes: Buffer, header: HeaderFacts): SourceTraits {
  const bare = { exif: undefined, xmp: undefined, space: 'rgb', inks: undefined } as const;
  const plain = { orientation: 1, is_converted: false, has_native: false, keeps_space: false };
  return { bytes, header, metadata: {}, ...bare, ...plain };
}

/** The scan has counted frames; here the decoder reports its own count. */
function refusePages({ content_type }: HeaderFacts, { pages = 1, pagePrimary = 0 }: Metadata) {
  if (content_type === 'image/gif' && pages > 1) {
    throw new IngestRefusal('animated_not_supported', `${pages} pages`);
  }
  if (pagePrimary > 0) {
    throw new IngestRefusal('unsupported_media_type', 'the picture to show is not the first one');
  }
}

function formatOf({ content_type }: HeaderFacts) {
  const format = findFormat(content_type);
  if (format === undefined) throw new Error(`no format ${content_type}`);
  return format;
}

/**
 * The options of every decode of an upload: strict, bounded, sequential, ignoring the profile
 * unless it changes colors.
 */
export function decodeOptions(header: HeaderFacts): SharpOptions {
  return {
    failOn: 'warning',
    limitInputPixels: pixelLimit(header),
    sequentialRead: true,
    unlimited: false,
  };
}

function isKept(block: Buffer | undefined): block is Buffer {
  return block !== undefined && block.length <= SAVED_METADATA_BYTES_MAX;
}
