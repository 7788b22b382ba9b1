/** The metadata that a raw download restores: each block parsed and rebuilt, or dropped. */
import type { SavedMetadata } from '../ingest-result.ts';
import { type PictureSize, rebuildExif } from './rebuild-exif.ts';
import { rebuildIcc } from './rebuild-icc.ts';
import { rebuildXmp } from './rebuild-xmp.ts';

export function rebuildMetadata(
  { exif, icc, xmp }: SavedMetadata,
  size: PictureSize,
): SavedMetadata {
  const rebuilt = {
    exif: exif && rebuildExif(exif, size),
    icc: icc && rebuildIcc(icc),
    xmp: xmp && rebuildXmp(xmp),
  };
  return {
    ...(rebuilt.exif && { exif: rebuilt.exif }),
    ...(rebuilt.icc && { icc: rebuilt.icc }),
    ...(rebuilt.xmp && { xmp: rebuilt.xmp }),
  };
}
