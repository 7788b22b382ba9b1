/** What sanitizing makes of an upload: the images to store and what is known of them. */
import type { RasterType } from './encode-stored.ts';

export type IngestResult = {
  content_type: RasterType | 'image/svg+xml';
  /** After orientation. */
  width: number;
  height: number;
  has_alpha: boolean;
  is_lossless: boolean;
  /** The point that `smart` crops around, in fractions of width and height. */
  focal_x: number;
  focal_y: number;
  /** `#rrggbb` */
  dominant_color: string;
  /** base64 of a ThumbHash. */
  thumb_hash: string;
  location: { latitude: number; longitude: number } | null;
  taken_at: string | null;
  /** The image as stored and served: sRGB, oriented, without metadata. */
  master: Buffer;
  /** The same pixels in the colour space that they came in; null where that was sRGB. */
  native: Buffer | null;
  mezzanines: MezzanineImage[];
  /** Read from the upload and written anew, for raw downloads. */
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
