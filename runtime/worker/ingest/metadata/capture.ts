/**
 * Where and when a picture was taken: from its EXIF block, and what that lacks from its XMP. Whatever is damaged or
 * out of range is as if it were not there. Spec: File (location).
 */
import { type ExifBlock, type ExifDirectory, type ExifField, openExif } from './exif-block.ts';
import { parseXmp, type XmpNode, xmpSpaces } from './xmp-tree.ts';

export type Capture = {
  location: { latitude: number; longitude: number } | null;
  /** ISO 8601; a time without an offset is taken as UTC. */
  taken_at: string | null;
};

/** `exif` may be a whole TIFF, whose directories are such a block themselves. */
export function readCapture(from: {
  exif?: Buffer | undefined;
  xmp?: Buffer | undefined;
}): Capture {
  const block = from.exif && openExif(from.exif);
  const [location, taken_at] = [block && locationIn(block), block && timeIn(block)];
  if (location && taken_at) return { location, taken_at };
  const packet = from.xmp && parseXmp(from.xmp);
  return {
    location: location ?? (packet && locationInXmp(packet)) ?? null,
    taken_at: taken_at ?? (packet && timeInXmp(packet)) ?? null,
  };
}

const tag = { exif: 0x8769, gps: 0x8825, taken: 0x9003, offset: 0x9011 } as const;
const gps = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 } as const;

function locationIn(block: ExifBlock): Capture['location'] {
  const place = block.follow(block.root.get(tag.gps));
  const degrees = (value: number, ref: number, negative: string) =>
    degreesIn(block, place.get(value)) * (text(place.get(ref)).startsWith(negative) ? -1 : 1);
  return onEarth(
    degrees(gps.latitude, gps.latitudeRef, 'S'),
    degrees(gps.longitude, gps.longitudeRef, 'W'),
  );
}

/** Cameras without a fix write zeros. */
function onEarth(latitude: number, longitude: number): Capture['location'] {
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isOnEarth && (latitude !== 0 || longitude !== 0) ? { latitude, longitude } : null;
}

/** Some write zero parts of nothing for minutes or seconds that they do not know. */
function degreesIn(block: ExifBlock, field: ExifField | undefined): number {
  if (field === undefined || field.bytes.length < 24) return Number.NaN;
  const [degrees = Number.NaN, minutes, seconds] = [0, 8, 16].map(
    (at) => block.u32(field.bytes, at) / block.u32(field.bytes, at + 4),
  );
  return rounded(degrees + (minutes || 0) / 60 + (seconds || 0) / 3600);
}

function rounded(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}

function timeIn(block: ExifBlock): string | null {
  const details: ExifDirectory = block.follow(block.root.get(tag.exif));
  const match = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/.exec(text(details.get(tag.taken)));
  if (match === null) return null;
  const [, year, month, day, time] = match;
  const offset = /^[+-]\d\d:\d\d/.exec(text(details.get(tag.offset)))?.[0] ?? 'Z';
  return isoOf(`${year}-${month}-${day}T${time}${offset}`);
}

function isoOf(time: string): string | null {
  const date = new Date(time);
  // A day that the month does not have would roll over into the next.
  const isReal = !Number.isNaN(date.getTime()) && hasDay(time.slice(0, 10));
  return isReal ? date.toISOString() : null;
}

function hasDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function text(field: ExifField | undefined): string {
  return field?.bytes.toString('latin1').replace(/\0.*$/s, '') ?? '';
}

function locationInXmp(packet: XmpNode): Capture['location'] {
  const degrees = (name: string) => xmpDegrees(propertyOf(packet, xmpSpaces.exif, name));
  return onEarth(degrees('GPSLatitude'), degrees('GPSLongitude'));
}

/** `52,31.2N` or `52,31,12N` */
function xmpDegrees(value: string | undefined): number {
  const match = /^(\d{1,3}),(\d{1,2}(?:\.\d+)?)(?:,(\d{1,2}(?:\.\d+)?))?([NSEW])$/.exec(
    value ?? '',
  );
  if (match === null) return Number.NaN;
  const [, degrees, minutes, seconds = '0', ref = ''] = match;
  const sum = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3600;
  return rounded('SW'.includes(ref) ? -sum : sum);
}

const TIMES = [
  [xmpSpaces.exif, 'DateTimeOriginal'],
  [xmpSpaces.photoshop, 'DateCreated'],
  [xmpSpaces.xmp, 'CreateDate'],
] as const;

function timeInXmp(packet: XmpNode): string | null {
  for (const [space, name] of TIMES) {
    const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/.exec(
      propertyOf(packet, space, name) ?? '',
    );
    const time = match && isoOf(`${match[1]}T${match[2]}${match[3] ?? 'Z'}`);
    if (time) return time;
  }
  return null;
}

/** As an attribute of a description, or as an element of its own. */
function propertyOf(node: XmpNode, space: string, name: string): string | undefined {
  const attribute = node.attributes.find((one) => one.space === space && one.local === name);
  if (attribute !== undefined) return attribute.value.trim();
  for (const child of node.children) {
    if (typeof child === 'string') continue;
    if (child.space === space && child.local === name) {
      return child.children
        .filter((part) => typeof part === 'string')
        .join('')
        .trim();
    }
    const found = propertyOf(child, space, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
