/** A PNG that carries the profile of its source, including colours that the source describes by numbers. */
import { crc32, deflateSync } from 'node:zlib';
import type { ColourDescription } from './colour-description.ts';
import { printProfile } from './print-profile.ts';

const HEADER_END = 8 + 12 + 13;
const COLOUR_TYPE_AT = 25;
const OF_COLOURS = 2;

/** Unchanged when the numbers describe no colours. */
export function attachProfile(png: Buffer, colours: ColourDescription): Buffer {
  const hasColours = ((png[COLOUR_TYPE_AT] ?? 0) & OF_COLOURS) !== 0;
  const profile = printProfile(colours, hasColours ? 'rgb' : 'grey');
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
