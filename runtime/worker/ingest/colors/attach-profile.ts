/** A PNG that carries the profile of its source, including colors that the source describes by numbers. */
import { crc32, deflateSync } from 'node:zlib';
import type { ColorDescription } from './color-description.ts';
import { printProfile } from './print-profile.ts';

const HEADER_END = 8 + 12 + 13;
const COLOR_TYPE_AT = 25;
const OF_COLORS = 2;

/** Unchanged when the numbers describe no colors. */
export function attachProfile(png: Buffer, colors: ColorDescription): Buffer {
  const hasColors = ((png[COLOR_TYPE_AT] ?? 0) & OF_COLORS) !== 0;
  const profile = printProfile(colors, hasColors ? 'rgb' : 'grey');
  return profile === undefined ? png : attachIccProfile(png, profile);
}

export function attachIccProfile(png: Buffer, profile: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from('profile\0\0', 'latin1'), deflateSync(profile)]);
  return Buffer.concat([
    png.subarray(0, HEADER_END),
    printChunk('iCCP', body),
    png.subarray(HEADER_END),
  ]);
}

function printChunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
