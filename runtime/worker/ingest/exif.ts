/**
 * Where and when a picture was taken, from its EXIF block. Whatever is damaged or out of range is as if
 * it were not there. Spec: File (location).
 */

export type Capture = {
  location: { latitude: number; longitude: number } | null;
  /** ISO 8601; a time without an offset is taken as UTC. */
  taken_at: string | null;
};

const PREFIX = 'Exif\0\0';
const ENTRY_BYTES = 12;
const ENTRIES_MAX = 500;
const tag = { exif: 0x8769, gps: 0x8825, taken: 0x9003, offset: 0x9011 } as const;
const gps = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 } as const;
/** Bytes of one value of each type that is read here: text, short, long, rational. */
const typeBytes: Readonly<Record<number, number>> = { 2: 1, 3: 2, 4: 4, 5: 8 };

export function readCapture(exif: Buffer | undefined): Capture {
  try {
    const tiff = exif === undefined ? undefined : openTiff(exif);
    if (tiff === undefined) return { location: null, taken_at: null };
    const root = tiff.directory(tiff.u32(4));
    return { location: readLocation(tiff, root), taken_at: readTime(tiff, root) };
  } catch (error) {
    if (error instanceof RangeError) return { location: null, taken_at: null };
    throw error;
  }
}

type Directory = ReadonlyMap<number, Buffer>;
type Tiff = {
  u32(at: number, bytes?: Buffer): number;
  directory(at: number): Directory;
};

function openTiff(exif: Buffer): Tiff | undefined {
  const bytes =
    exif.toString('latin1', 0, PREFIX.length) === PREFIX ? exif.subarray(PREFIX.length) : exif;
  const order = bytes.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return undefined;
  const isLittle = order === 'II';
  const u16 = (at: number) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const u32 = (at: number, from = bytes) =>
    isLittle ? from.readUInt32LE(at) : from.readUInt32BE(at);
  const entry = (at: number): [number, Buffer] => {
    const length = (typeBytes[u16(at + 2)] ?? 0) * u32(at + 4);
    const start = length <= 4 ? at + 8 : u32(at + 8);
    return [u16(at), bytes.subarray(start, start + length)];
  };
  const directory = (at: number) => {
    const count = Math.min(u16(at), ENTRIES_MAX);
    return new Map(
      Array.from({ length: count }, (_, index) => entry(at + 2 + index * ENTRY_BYTES)),
    );
  };
  return { u32, directory };
}

function readLocation(tiff: Tiff, root: Directory): Capture['location'] {
  const pointer = root.get(tag.gps);
  if (pointer === undefined) return null;
  const place = tiff.directory(tiff.u32(0, pointer));
  const latitude =
    readDegrees(tiff, place.get(gps.latitude)) * sign(place.get(gps.latitudeRef), 'S');
  const longitude =
    readDegrees(tiff, place.get(gps.longitude)) * sign(place.get(gps.longitudeRef), 'W');
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  // Cameras without a fix write zeros.
  const isFixed = latitude !== 0 || longitude !== 0;
  return isOnEarth && isFixed ? { latitude, longitude } : null;
}

function sign(ref: Buffer | undefined, negative: string): number {
  return ref?.toString('latin1', 0, 1) === negative ? -1 : 1;
}

function readDegrees(tiff: Tiff, value: Buffer | undefined): number {
  if (value === undefined) return Number.NaN;
  const [degrees, minutes, seconds] = [0, 8, 16].map(
    (at) => tiff.u32(at, value) / tiff.u32(at + 4, value),
  );
  const total = (degrees ?? 0) + (minutes ?? 0) / 60 + (seconds ?? 0) / 3600;
  return Math.round(total * 1e7) / 1e7;
}

function readTime(tiff: Tiff, root: Directory): string | null {
  const pointer = root.get(tag.exif);
  if (pointer === undefined) return null;
  const details = tiff.directory(tiff.u32(0, pointer));
  const parts = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)/.exec(text(details.get(tag.taken)));
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const offset = /^[+-]\d\d:\d\d$/.exec(text(details.get(tag.offset)))?.[0] ?? 'Z';
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function text(value: Buffer | undefined): string {
  return value?.toString('latin1').replace(/\0.*$/s, '') ?? '';
}
