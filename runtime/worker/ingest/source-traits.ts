/** What decoding needs to know beyond the header: embedded metadata, colour space, limits. */
import sharp, { type SharpOptions } from 'sharp';
import { pixelLimit } from '../../core/image/formats.ts';
import { SAVED_METADATA_BYTES_MAX } from '../../core/limits.ts';
import { judgeIccProfile } from './icc-profile.ts';
import type { SavedMetadata } from './ingest-result.ts';
import type { HeaderFacts } from './scan.ts';

export type SourceTraits = {
  bytes: Buffer;
  header: HeaderFacts;
  metadata: SavedMetadata;
  space: 'grey' | 'rgb' | 'cmyk';
  /** The stored image is converted to sRGB: its pixels are others than the upload's. */
  is_converted: boolean;
  /** Decode without that conversion. */
  keeps_space: boolean;
};

export async function readSource(bytes: Buffer, header: HeaderFacts): Promise<SourceTraits> {
  const { exif, icc, xmp, channels, space } = await sharp(bytes, decodeOptions(header)).metadata();
  const isCmyk = space === 'cmyk';
  const profile = icc === undefined || icc.length > SAVED_METADATA_BYTES_MAX ? undefined : icc;
  const verdict = profile === undefined ? 'broken' : judgeIccProfile(profile);
  return {
    bytes,
    header,
    metadata: {
      ...(isKept(exif) ? { exif } : {}),
      ...(profile !== undefined && verdict !== 'broken' ? { icc: profile } : {}),
      ...(isKept(xmp) ? { xmp } : {}),
    },
    space: isCmyk ? 'cmyk' : channels !== undefined && channels < 3 ? 'grey' : 'rgb',
    is_converted: isCmyk || verdict === 'other',
    keeps_space: false,
  };
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
