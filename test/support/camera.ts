/** Pictures with the metadata that cameras and programs write, written by ExifTool into real containers. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** As ExifTool takes them: `-Group:Tag=value`. */
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

export type Tagging = { bytes: Buffer; extension: string; words?: readonly string[] };

export async function tagged(
  bytes: Buffer,
  extension: string,
  words: readonly string[] = CAMERA_TAGS,
): Promise<Buffer> {
  const [one = Buffer.alloc(0)] = await taggedAll([{ bytes, extension, words }]);
  return one;
}

/** All in one run of ExifTool, which takes longer to start than to write. */
export async function taggedAll(pictures: readonly Tagging[]): Promise<Buffer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-camera-'));
  try {
    const files = pictures.map(({ extension }, index) => join(folder, `${index}.${extension}`));
    await Promise.all(pictures.map(({ bytes }, at) => writeFile(files[at] ?? '', bytes)));
    const runs = pictures.map(({ words = CAMERA_TAGS }, at) => [...words, files[at] ?? '']);
    const args = runs.flatMap((run, at) => (at === 0 ? run : ['-execute', ...run]));
    const common = ['-common_args', '-q', '-m', '-overwrite_original'];
    await promisify(execFile)('exiftool', [...args, ...common]);
    return await Promise.all(files.map((file) => readFile(file)));
  } finally {
    await rm(folder, { recursive: true });
  }
}
