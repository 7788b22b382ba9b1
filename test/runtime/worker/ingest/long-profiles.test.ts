// Spec: What the service does; Delivery host, Output rules (raw downloads). An ICC profile of any length determines the
// colors; pixels in its color space are kept only together with it.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { SAVED_METADATA_BYTES_MAX } from '../../../../runtime/core/limits.ts';
import { attachIccProfile } from '../../../../runtime/worker/ingest/colors/attach-profile.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { displayP3, printMatrixProfile } from '../../../support/icc.ts';
import { over, photograph } from '../../../support/pictures.ts';

const decoder = useDecoder();
const P3 = printMatrixProfile(displayP3);

const png = () => over(photograph(48, 40)).png().toBuffer();
const upload = async (profile: Buffer) => attachIccProfile(await png(), profile);
const ingest = async (profile: Buffer) => decoder.ingest(await upload(profile), 'image/png');

/** Pads the profile after its last tag. */
function longer(profile: Buffer, bytes: number): Buffer {
  const long = Buffer.concat([profile, Buffer.alloc(bytes)]);
  long.writeUInt32BE(long.length, 0);
  return long;
}

/**
 * Adds tags that do not concern colors and share the same bytes: a rewritten profile would need a
 * copy for each.
 */
function withOverlaps(profile: Buffer, bytes: number): Buffer {
  const [HEADER, ENTRY] = [132, 12];
  const names = ['gamt', 'B2D0', 'B2D1', 'B2D2', 'B2D3'];
  const count = profile.readUInt32BE(HEADER - 4);
  const added = names.length * ENTRY;
  const table = Buffer.from(profile.subarray(HEADER, HEADER + count * ENTRY));
  for (let at = 4; at < table.length; at += ENTRY)
    table.writeUInt32BE(table.readUInt32BE(at) + added, at);
  const rows = names.map((name, index) => {
    const row = Buffer.alloc(ENTRY);
    row.write(name, 'latin1');
    row.writeUInt32BE(profile.length + added, 4);
    row.writeUInt32BE(bytes - index * 4, 8);
    return row;
  });
  const head = Buffer.from(profile.subarray(0, HEADER));
  head.writeUInt32BE(count + names.length, HEADER - 4);
  const tags = profile.subarray(HEADER + count * ENTRY);
  return longer(Buffer.concat([head, table, ...rows, tags]), bytes);
}

describe('an ICC profile', () => {
  it('too long to be saved still converts colors, but neither it nor the original pixels are kept', async () => {
    const short = await ingest(P3);
    const long = await ingest(longer(P3, SAVED_METADATA_BYTES_MAX));
    expect(long.master.equals(short.master)).toBe(true);
    const plain = await decoder.ingest(await png(), 'image/png');
    expect(long.master.equals(plain.master)).toBe(false);
    expect([long.native, long.metadata]).toEqual([null, {}]);
    expect(Object.keys(short.metadata)).toEqual(['icc']);
    expect((await sharp(short.native ?? Buffer.alloc(0)).metadata()).format).toBe('png');
  });

  it('that would become too long when it is rewritten still converts colors, but is not kept either', async () => {
    const { master, native, metadata } = await ingest(
      withOverlaps(P3, SAVED_METADATA_BYTES_MAX / 4),
    );
    expect(master.equals((await ingest(P3)).master)).toBe(true);
    expect([native, metadata]).toEqual([null, {}]);
  });
});
