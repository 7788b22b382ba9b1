/** Inserts chunks behind the header of a PNG, before everything else. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { MetadataBlocks, Splice, SplicedImage } from './splice.ts';

/** The signature and the IHDR chunk. */
const HEADER_BYTES = 8 + 25;
/** The profile name, and the compression method (deflate). */
const ICC_BEGIN = Buffer.from('ICC profile\0\0', 'latin1');
/** The keyword that readers know, then: not compressed, no language, no translation. */
const XMP_BEGIN = Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1');

/** Runs beside serving (asynchronously), as a profile may have several megabytes. */
const compress = promisify(deflate);

export async function splicePng(
  { head }: SplicedImage,
  { exif, icc, xmp }: MetadataBlocks,
): Promise<Splice> {
  const chunks = [
    ...(icc ? [chunk('iCCP', Buffer.concat([ICC_BEGIN, await compress(icc)]))] : []),
    ...(exif ? [chunk('eXIf', exif)] : []),
    ...(xmp ? [chunk('iTXt', Buffer.concat([XMP_BEGIN, xmp]))] : []),
  ];
  const before = Buffer.concat([head.subarray(0, HEADER_BYTES), ...chunks]);
  return { before, from: HEADER_BYTES, behind: Buffer.alloc(0) };
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
