/** The colors that a PNG states apart from a profile: `cICP`, else `sRGB`, else `gAMA` and `cHRM`. */
import {
  type ColorDescription,
  describeCodes,
  isSrgb,
  srgbPrimaries,
} from './color-description.ts';

type Chunk = { type: string; body: Buffer };

/** The lengths of color chunks; like decoders, we ignore a chunk of another length. */
const chunkBytes: Readonly<Record<string, number>> = { cICP: 4, sRGB: 1, gAMA: 4, cHRM: 32 };

const UNIT = 100_000;
const GAMMA_MIN = 0.1;
const GAMMA_MAX = 10;

/** Undefined when the colors are sRGB, given by a profile, or invalid. */
export function readPngColors(chunks: readonly Chunk[]): ColorDescription | undefined {
  if (chunks.some(({ type }) => type === 'iCCP')) return undefined;
  const bodyOf = (name: string) =>
    chunks.find(({ type, body }) => type === name && body.length === chunkBytes[name])?.body;
  const codes = bodyOf('cICP');
  const colors =
    codes === undefined
      ? readNumbers(bodyOf)
      : describeCodes(codes.readUInt8(0), codes.readUInt8(1));
  return colors === undefined || isSrgb(colors) ? undefined : colors;
}

function readNumbers(bodyOf: (name: string) => Buffer | undefined): ColorDescription | undefined {
  const [gamma, points] = [bodyOf('gAMA'), bodyOf('cHRM')];
  if (bodyOf('sRGB') !== undefined || (gamma === undefined && points === undefined)) {
    return undefined;
  }
  const power = gamma === undefined ? undefined : UNIT / gamma.readUInt32BE(0);
  if (power !== undefined && !(power >= GAMMA_MIN && power <= GAMMA_MAX)) return undefined;
  const primaries = points === undefined ? srgbPrimaries : readPoints(points);
  return { primaries, transfer: power ?? 'srgb' };
}

function readPoints(body: Buffer): ColorDescription['primaries'] {
  const point = (index: number) =>
    [body.readUInt32BE(index * 8) / UNIT, body.readUInt32BE(index * 8 + 4) / UNIT] as const;
  return { white: point(0), red: point(1), green: point(2), blue: point(3) };
}
