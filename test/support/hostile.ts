/**
 * Damages a valid file in ways that a seed determines: truncates it at every sixteenth, flips, inserts and deletes
 * bytes, and drops, duplicates and swaps the parts of the format.
 */
import { seededRandom } from './pictures.ts';

export function* truncations(file: Buffer): Generator<Buffer> {
  for (let part = 0; part < 16; part += 1) {
    yield file.subarray(0, Math.floor((file.length * part) / 16));
  }
}

type Damage = { count: number; seed: number; header?: number };

/** Every second file has its flipped bits within the first `header` bytes. */
export function* bitFlips(file: Buffer, { count, seed, header = 256 }: Damage): Generator<Buffer> {
  const random = seededRandom(seed);
  for (let index = 0; index < count; index += 1) {
    const damaged = Buffer.from(file);
    const reach = index % 2 === 0 ? Math.min(header, file.length) : file.length;
    for (let flip = 0; flip <= index % 3; flip += 1) {
      const at = Math.floor(random() * reach);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }
    yield damaged;
  }
}

/** Inserts up to nine random bytes, in every second file near the beginning. */
export function* insertions(file: Buffer, { count, seed }: Damage): Generator<Buffer> {
  const random = seededRandom(seed);
  for (let index = 0; index < count; index += 1) {
    const at = Math.floor(random() * (index % 2 === 0 ? Math.min(256, file.length) : file.length));
    const more = Buffer.from(
      Array.from({ length: 1 + (index % 9) }, () => Math.floor(random() * 256)),
    );
    yield Buffer.concat([file.subarray(0, at), more, file.subarray(at)]);
  }
}

/** Deletes up to nine bytes, in every second file near the beginning. */
export function* deletions(file: Buffer, { count, seed }: Damage): Generator<Buffer> {
  const random = seededRandom(seed);
  for (let index = 0; index < count; index += 1) {
    const at = Math.floor(random() * (index % 2 === 0 ? Math.min(256, file.length) : file.length));
    yield Buffer.concat([file.subarray(0, at), file.subarray(at + 1 + (index % 9))]);
  }
}

const EXTREMES = [0x00, 0x7f, 0x80, 0xff];

/** Sets each of the first bytes to 0x00, 0x7f, 0x80 and 0xff. */
export function* headerExtremes(file: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < Math.min(bytes, file.length); at += 1) {
    for (const value of EXTREMES) {
      if (file[at] === value) continue;
      const damaged = Buffer.from(file);
      damaged[at] = value;
      yield damaged;
    }
  }
}

/** Drops, duplicates, swaps and repeats parts, such as chunks or segments. */
export function* shuffles(
  file: Buffer,
  { content_type, count, seed }: Damage & { content_type: string },
): Generator<Buffer> {
  const parts = partsOf(file, content_type);
  const random = seededRandom(seed);
  for (let index = 0; index < count && parts.length > 2; index += 1) {
    const [from, to] = [pick(), pick()];
    yield Buffer.concat(changed(parts, { from, to, way: index % 6 }));
  }

  function pick(): number {
    return 1 + Math.floor(random() * (parts.length - 1));
  }
}

type Change = { from: number; to: number; way: number };

function changed(parts: readonly Buffer[], { from, to, way }: Change): Buffer[] {
  const [head, ...rest] = parts as [Buffer, ...Buffer[]];
  const one = parts[from] as Buffer;
  const without = parts.filter((_, index) => index !== from);
  if (way === 0) return without;
  if (way === 1) return parts.toSpliced(to, 0, one);
  if (way === 2) return without.toSpliced(to, 0, one);
  if (way === 3) return [head, ...rest.toReversed()];
  if (way === 4) return [...parts.slice(0, from), ...Array(300).fill(one), ...parts.slice(from)];
  return [...parts, ...rest];
}

function partsOf(file: Buffer, contentType: string): Buffer[] {
  const lengths: Record<string, (at: number) => number> = {
    'image/png': (at) => (at === 0 ? 8 : 12 + file.readUInt32BE(at)),
    'image/webp': (at) => (at === 0 ? 12 : 8 + evenly(file.readUInt32LE(at + 4))),
    'image/avif': (at) => file.readUInt32BE(at),
    'image/jpeg': (at) => (at === 0 ? 2 : jpegPart(file, at)),
    'image/svg+xml': (at) => file.indexOf('<', at + 1) - at,
  };
  const lengthAt = lengths[contentType] ?? (() => 16);
  const parts: Buffer[] = [];
  for (let at = 0; at < file.length; ) {
    const length = at + 12 > file.length ? 0 : lengthAt(at);
    const end = length > 0 ? at + length : file.length;
    parts.push(file.subarray(at, end));
    at = end;
  }
  return parts;
}

function evenly(length: number): number {
  return length + (length % 2);
}

/** Returns the length of a segment, including the entropy-coded data that follows it. */
function jpegPart(file: Buffer, at: number): number {
  let end = at + 2 + (file[at + 1] === 0xd9 ? 0 : file.readUInt16BE(at + 2));
  while (end < file.length && !(file[end] === 0xff && (file[end + 1] ?? 0) >= 0xc0)) end += 1;
  return end - at;
}
