/** The result of sanitizing an upload: the images to store, and the facts about them. */
import type { RasterType } from './encode-stored.ts';

export type IngestResult = {
  content_type: RasterType | 'image/svg+xml';
  /** After orientation. */
  width: number;
  height: number;
  has_alpha: boolean;
  is_lossless: boolean;
  /** The focal point of `smart` crops, in fractions of width and height. */
  focal_x: number;
  focal_y: number;
  /** `#rrggbb` */
  dominant_color: string;
  /** A ThumbHash in base64. */
  thumb_hash: string;
  location: { latitude: number; longitude: number } | null;
  taken_at: string | null;
  /** The image as stored and served: sRGB, oriented, without metadata. */
  master: Buffer;
  /** The same pixels in their original color space; null when that was sRGB. */
  native: Buffer | null;
  mezzanines: MezzanineImage[];
  /** Read from the upload and rebuilt, for raw downloads. */
  metadata: SavedMetadata;
};

export type MezzanineImage = {
  long_edge: number;
  width: number;
  height: number;
  content_type: string;
  bytes: Buffer;
};

export type SavedMetadata = { exif?: Buffer; icc?: Buffer; xmp?: Buffer };
