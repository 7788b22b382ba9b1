/** What decoding needs to know beyond the header: embedded metadata, colour space, limits. */
import sharp, { type Metadata, type SharpOptions } from 'sharp';
import { findFormat, pixelLimit } from '../../core/image/formats.ts';
import { SAVED_METADATA_BYTES_MAX } from '../../core/limits.ts';
import { attachProfile } from './colours/attach-profile.ts';
import { type InkTable, readInkTable } from './colours/ink-table.ts';
import { usualInks } from './colours/usual-inks.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { SavedMetadata } from './ingest-result.ts';
import { judgeIccProfile } from './metadata/icc-profile.ts';
import type { HeaderFacts } from './scan.ts';

export type SourceTraits = {
  bytes: Buffer;
  header: HeaderFacts;
  /** What raw downloads put back; nothing where the stored format has no place for it. */
  metadata: SavedMetadata;
  /** Where place and time are read. */
  exif: Buffer | undefined;
  xmp: Buffer | undefined;
  space: 'grey' | 'rgb' | 'cmyk';
  /** What its four inks look like; undefined too where their profile is left to the decoder's library. */
  inks: InkTable | undefined;
  /** As EXIF counts: 1 is upright, as everything is stored. */
  orientation: number;
  /** The stored image is converted to sRGB: its pixels are others than the upload's. */
  is_converted: boolean;
  /** Its pixels as they came can be stored beside the converted ones. */
  has_native: boolean;
  /** Decode without that conversion. */
  keeps_space: boolean;
};

export async function readSource(bytes: Buffer, header: HeaderFacts): Promise<SourceTraits> {
  if (header.content_type === 'image/bmp') return bareSource(bytes, header);
  if (header.content_type === 'image/png' && header.colours !== undefined) {
    const { colours: _, ...rest } = header;
    return readSource(attachProfile(bytes, header.colours), rest);
  }
  const seen = await sharp(bytes, decodeOptions(header)).metadata();
  const { exif, icc, xmp, channels, space } = seen;
  refusePages(header, seen);
  const kind = space === 'cmyk' ? 'cmyk' : channels !== undefined && channels < 3 ? 'grey' : 'rgb';
  const isCmyk = kind === 'cmyk';
  const verdict = icc === undefined ? 'broken' : judgeIccProfile(icc, kind);
  const isConverted = isCmyk || verdict === 'other';
  const { takes_metadata, stored_as } = formatOf(header);
  // A profile goes with the pixels that it describes, or neither of them.
  const isLost = icc !== undefined && icc.length > SAVED_METADATA_BYTES_MAX;
  const hasNative =
    isConverted && takes_metadata && !isLost && !(isCmyk && stored_as === 'image/png');
  const isDescribed = verdict !== 'broken' && (hasNative || !isConverted);
  // The directories of a TIFF are such a block themselves, whose rebuilding takes what is known.
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

/** Without a profile of inks, those of the decoder's library. */
async function readInks(icc: Buffer | undefined, { content_type }: HeaderFacts) {
  const isOfInks = icc !== undefined && judgeIccProfile(icc, 'cmyk') !== 'broken';
  return isOfInks ? readInkTable(icc) : usualInks(content_type);
}

/** A BMP, which is all pixels. */
function bareSource(bytes: Buffer, header: HeaderFacts): SourceTraits {
  const bare = { exif: undefined, xmp: undefined, space: 'rgb', inks: undefined } as const;
  const plain = { orientation: 1, is_converted: false, has_native: false, keeps_space: false };
  return { bytes, header, metadata: {}, ...bare, ...plain };
}

/** The scan has counted frames: here the decoder says what it takes for one. */
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

/** Every decode of an upload: strict, bounded, in order, its profile ignored unless it changes colours. */
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
