/** Images with the metadata of cameras and editors, written by ExifTool. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askExifTool } from './exif-tool.ts';

/** In ExifTool's syntax: `-Group:Tag=value`. */
export const CAMERA_TAGS = [
  '-EXIF:Make=Tintype',
  '-EXIF:Model=Plate 1',
  '-EXIF:Orientation#=6',
  '-EXIF:XResolution=300',
  '-EXIF:Software=Darkroom 2.1',
  '-EXIF:Artist=Ada',
  '-EXIF:Copyright=(c) Ada',
  '-EXIF:ExposureTime=1/125',
  '-EXIF:FNumber=5.6',
  '-EXIF:ISO=200',
  '-EXIF:DateTimeOriginal=2024:05:06 07:08:09',
  '-EXIF:OffsetTimeOriginal=+02:00',
  '-EXIF:FocalLength=50',
  '-EXIF:LensModel=Petzval',
  '-EXIF:UserComment=a comment',
  '-EXIF:GPSLatitude=33.8566667',
  '-EXIF:GPSLatitudeRef=S',
  '-EXIF:GPSLongitude=151.2152222',
  '-EXIF:GPSLongitudeRef=E',
  '-EXIF:GPSAltitude=12.5',
  '-XMP-dc:Title=Harbour',
  '-XMP-dc:Creator=Ada',
  '-XMP-dc:Subject=sea',
  '-XMP-dc:Subject=boats & "sails" <tall>',
  '-XMP-xmp:Rating=5',
  '-XMP-photoshop:City=Sydney',
  '-XMP-tiff:Orientation#=6',
  '-XMP-xmpMM:DocumentID=xmp.did:1',
  '-XMP-crs:Exposure2012=+0.50',
] as const;

export async function tagged(
  bytes: Buffer,
  extension: string,
  words: readonly string[] = CAMERA_TAGS,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-camera-'));
  try {
    const file = join(folder, `0.${extension}`);
    await writeFile(file, bytes);
    await askExifTool([...words, '-m', '-overwrite_original', file]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
