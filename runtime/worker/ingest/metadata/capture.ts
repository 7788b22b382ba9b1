/**
 * Where and when a picture was taken: from its EXIF block, and what that lacks from its XMP. Damaged or out-of-range
 * values are ignored. Spec: File (location).
 */
import { type ExifBlock, type ExifDirectory, type ExifField, openExif } from './exif-block.ts';
import {
  elementsOf,
  findRdf,
  parseXmp,
  RDF,
  type XmpName,
  type XmpNode,
  xmpSpaces,
} from './xmp-tree.ts';

export type Capture = {
  location: { latitude: number; longitude: number } | null;
  /** ISO 8601; a time without an offset is interpreted as UTC. */
  taken_at: string | null;
};

/** `exif` may also be a whole TIFF, whose directories form such a block themselves. */
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

const tag = {
  exif: 0x8769,
  gps: 0x8825,
  taken: 0x9003,
  offset: 0x9011,
  fraction: 0x9291,
} as const;
/** Unsigned and signed rationals, because some writers use the second for the first. */
const RATIONALS: ReadonlySet<number> = new Set([5, 10]);
const gps = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 } as const;

function locationIn(block: ExifBlock): Capture['location'] {
  const place = block.follow(block.root.get(tag.gps));
  const degrees = (value: number, ref: number, sides: string) =>
    degreesIn(block, place.get(value)) * sideOf(text(place.get(ref)), sides);
  return onEarth(
    degrees(gps.latitude, gps.latitudeRef, 'NS'),
    degrees(gps.longitude, gps.longitudeRef, 'EW'),
  );
}

/**
 * The sign for a hemisphere; NaN when it is missing: no place is better than one of four possible
 * ones.
 */
function sideOf(ref: string, sides: string): number {
  return [1, -1][sides.indexOf(ref.charAt(0).toUpperCase() || '?')] ?? Number.NaN;
}

/** Null when out of range, and for the zeros that cameras write without a fix. */
function onEarth(latitude: number, longitude: number): Capture['location'] {
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isOnEarth && (latitude !== 0 || longitude !== 0) ? { latitude, longitude } : null;
}

/** Some writers use 0/0 for unknown minutes or seconds. */
function degreesIn(block: ExifBlock, field: ExifField | undefined): number {
  if (field === undefined || !RATIONALS.has(field.type) || field.count < 3) return Number.NaN;
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
  const fraction = /^\d+/.exec(text(details.get(tag.fraction)))?.[0].slice(0, 3) ?? '0';
  const offset = OFFSET.exec(text(details.get(tag.offset)))?.[0] ?? 'Z';
  return isoOf(`${year}-${month}-${day}T${time}.${fraction}${offset}`);
}

/** Existing time zones; any other offset is ignored. */
const OFFSET = /^[+-](?:0\d|1[0-4]):[0-5]\d/;
/** Years that have four digits in any time zone; others come from clocks that started at zero. */
const YEARS = { first: 2, last: 9998 } as const;

function isoOf(time: string): string | null {
  const date = new Date(time);
  const year = Number(time.slice(0, 4));
  const isInRange = year >= YEARS.first && year <= YEARS.last;
  // A nonexistent day would roll over into the next month.
  const isReal = !Number.isNaN(date.getTime()) && hasDay(time.slice(0, 10));
  return isInRange && isReal ? date.toISOString() : null;
}

function hasDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function text(field: ExifField | undefined): string {
  return field?.bytes.toString('latin1').replace(/\0.*$/s, '') ?? '';
}

/**
 * The picture's own location; otherwise the IPTC location where it was made, never the one it
 * shows.
 */
function locationInXmp(packet: XmpNode): Capture['location'] {
  const own = descriptionsOf(packet);
  const made = own.flatMap((node) =>
    elementsOf(node).filter(isNamed(xmpSpaces.Iptc4xmpExt, 'LocationCreated')),
  );
  return placeAmong(own) ?? placeAmong(made.flatMap(withinAll));
}

function placeAmong(nodes: readonly XmpNode[]): Capture['location'] {
  const degrees = (name: string, sides: string) =>
    xmpDegrees(propertyOf(nodes, xmpSpaces.exif, name), sides);
  return onEarth(degrees('GPSLatitude', 'NS'), degrees('GPSLongitude', 'EW'));
}

/** `52,31.2N` or `52,31,12N` */
function xmpDegrees(value: string | undefined, sides: string): number {
  const match = /^(\d{1,3}),(\d{1,2}(?:\.\d+)?)(?:,(\d{1,2}(?:\.\d+)?))?([A-Z])$/.exec(value ?? '');
  if (match === null) return Number.NaN;
  const [, degrees, minutes, seconds = '0', ref = ''] = match;
  const sum = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3600;
  return rounded(sum * sideOf(ref, sides));
}

const TIMES = [
  [xmpSpaces.exif, 'DateTimeOriginal'],
  [xmpSpaces.photoshop, 'DateCreated'],
  [xmpSpaces.xmp, 'CreateDate'],
] as const;

/** Some programs copy the form used in EXIF. */
const XMP_TIME =
  /^(\d{4})[-:](\d\d)[-:](\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/;

function timeInXmp(packet: XmpNode): string | null {
  const own = descriptionsOf(packet);
  for (const [space, name] of TIMES) {
    const match = XMP_TIME.exec(propertyOf(own, space, name) ?? '');
    const day = match && [match[1], match[2], match[3]].join('-');
    const zone = OFFSET.exec(match?.[5] ?? '')?.[0] ?? 'Z';
    const time = match && isoOf(`${day}T${match[4]}${zone}`);
    if (time) return time;
  }
  return null;
}

/** Finds a property as an attribute of a description, or as an element. */
function propertyOf(nodes: readonly XmpNode[], space: string, name: string): string | undefined {
  const isIt = isNamed(space, name);
  for (const node of nodes) {
    const element = elementsOf(node).find(isIt);
    const value = node.attributes.find(isIt)?.value ?? (element && textOf(element));
    if (value !== undefined) return value.trim();
  }
  return undefined;
}

/** The descriptions of the picture itself: deeper ones are about other things. */
function descriptionsOf(packet: XmpNode): XmpNode[] {
  const rdf = findRdf(packet);
  return rdf === undefined ? [] : elementsOf(rdf).filter(isNamed(RDF, 'Description'));
}

function withinAll(node: XmpNode): XmpNode[] {
  return [node, ...elementsOf(node).flatMap(withinAll)];
}

function textOf({ children }: XmpNode): string {
  return children.filter((part) => typeof part === 'string').join('');
}

function isNamed(space: string, name: string) {
  return (one: XmpName): boolean => one.space === space && one.local === name;
}
