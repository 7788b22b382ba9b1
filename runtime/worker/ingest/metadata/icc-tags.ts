/** An ICC profile opened for reading: its header and its tags, within bounds. */

export type IccHead = { class: string; color_space: string; connection_space: string };
export type IccTags = ReadonlyMap<string, Buffer>;

export const ICC_HEADER_BYTES = 128;
export const ICC_TAG_BYTES = 12;
const TAGS_MAX = 100;

/** Undefined when it is not a profile, or incomplete. */
export function readIccHead(profile: Buffer): IccHead | undefined {
  if (profile.length < ICC_HEADER_BYTES + 4) return undefined;
  const isWhole = profile.readUInt32BE(0) <= profile.length;
  if (!isWhole || profile.toString('latin1', 36, 40) !== 'acsp') return undefined;
  const name = (at: number) => profile.toString('latin1', at, at + 4);
  return { class: name(12), color_space: name(16), connection_space: name(20) };
}

/** The tags that lie completely inside the profile; of equal names the first. */
export function readIccTags(profile: Buffer): IccTags {
  const count = Math.min(profile.readUInt32BE(ICC_HEADER_BYTES), TAGS_MAX);
  const tags = new Map<string, Buffer>();
  for (let index = 0; index < count; index += 1) {
    const at = ICC_HEADER_BYTES + 4 + index * ICC_TAG_BYTES;
    if (at + ICC_TAG_BYTES > profile.length) break;
    const name = profile.toString('latin1', at, at + 4);
    const start = profile.readUInt32BE(at + 4);
    const end = start + profile.readUInt32BE(at + 8);
    if (end <= profile.length && !tags.has(name)) tags.set(name, profile.subarray(start, end));
  }
  return tags;
}
