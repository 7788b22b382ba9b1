/**
 * The quality with which a decoded upload is encoded, based on its original quality. Rounding a JPEG again is harmless
 * only while its blocks stay in place. Spec: What the service does.
 */
import { STORED_JPEG_MOVED_QUALITY_MIN, STORED_QUALITY_MIN } from '../../core/limits.ts';
import type { HeaderFacts } from './scan.ts';
import type { SourceTraits } from './source-traits.ts';

const BLOCK_PX = 8;
/**
 * Moved blocks need finer tables than the original: measured, for real photographs of all
 * qualities.
 */
const MOVED_FINER = 7;
/** EXIF orientations that begin at the other end of a stored row, or column. */
const FROM_RIGHT: readonly number[] = [2, 3, 7, 8];
const FROM_BELOW: readonly number[] = [3, 4, 6, 7];

/** Changed pixels cannot reproduce low tables, whatever the upload's quality was. */
export function storedHeader({ header, orientation, is_converted }: SourceTraits): HeaderFacts {
  const { quality } = header;
  const isSame = quality === null || (orientation === 1 && !is_converted);
  if (isSame) return header;
  const isMoved = header.content_type === 'image/jpeg' && movesBlocks(header, orientation);
  const stored = isMoved ? movedQuality(quality) : Math.max(quality, STORED_QUALITY_MIN);
  return { ...header, quality: stored };
}

/** For a JPEG whose rounding cannot be repeated; the encoder enforces the upper limit. */
function movedQuality(quality: number): number {
  return Math.max(quality + MOVED_FINER, STORED_JPEG_MOVED_QUALITY_MIN);
}

/** Blocks are counted from the top left: a side that is reversed must consist of whole blocks. */
function movesBlocks(
  { width, height }: Pick<HeaderFacts, 'width' | 'height'>,
  orientation: number,
): boolean {
  const isCut = (side: number, turned: readonly number[]) =>
    turned.includes(orientation) && side % BLOCK_PX !== 0;
  return isCut(width, FROM_RIGHT) || isCut(height, FROM_BELOW);
}
