/** TIFF files that no available encoder writes: both byte orders, BigTIFF, planar data, several pages, any tag. */

export type TiffPage = {
  width: number;
  height: number;
  samples: number;
  /** One strip, or one per plane. */
  strips: Buffer[];
  /** Overrides the default tags; an empty list omits the tag. */
  tags?: Readonly<Record<number, readonly number[]>>;
};
export type TiffOptions = { order?: 'II' | 'MM'; isBig?: boolean };

const RGB = 2;
const GREY = 1;
const SHORT = 3;
const LONG = 4;

export function printTiff(
  pages: readonly TiffPage[],
  { order = 'II', isBig = false }: TiffOptions = {},
): Buffer {
  const number = printer(order);
  const offset = isBig ? 8 : 4;
  const head = [Buffer.from(order), number(isBig ? 43 : 42, 2)];
  if (isBig) head.push(number(8, 2), number(0, 2));
  const parts = [...head, number(isBig ? 16 : 8, offset)];
  for (const [index, page] of pages.entries()) {
    const start = lengthOf(parts);
    const entries = Object.entries({ ...usualTags(page), ...page.tags })
      .map(([tag, values]) => ({ tag: Number(tag), values }))
      .filter(({ values }) => values.length > 0);
    const size = (isBig ? 8 : 2) + entries.length * (isBig ? 20 : 12) + offset;
    let at = start + size;
    const outside: Buffer[] = [];
    const place = (bytes: Buffer) => {
      const here = at;
      outside.push(bytes);
      at += bytes.length;
      return here;
    };
    const strips = page.strips.map((strip) => place(strip));
    const rows = entries.map(({ tag, values }) => {
      const list = tag === 273 ? strips : values;
      const width = list.some((value) => value > 65_535) ? 4 : 2;
      const body = Buffer.concat(list.map((value) => number(value, width)));
      const isInside = body.length <= offset;
      const value = isInside
        ? Buffer.concat([body, Buffer.alloc(offset - body.length)])
        : number(place(body), offset);
      const type = number(width === 4 ? LONG : SHORT, 2);
      return Buffer.concat([number(tag, 2), type, number(list.length, offset), value]);
    });
    const next = index === pages.length - 1 ? 0 : at;
    parts.push(number(entries.length, isBig ? 8 : 2), ...rows, number(next, offset), ...outside);
  }
  return Buffer.concat(parts);
}

function usualTags(page: TiffPage): Record<number, readonly number[]> {
  return {
    256: [page.width],
    257: [page.height],
    258: Array.from({ length: page.samples }, () => 8),
    259: [1],
    262: [page.samples >= 3 ? RGB : GREY],
    273: page.strips.map(() => 0),
    277: [page.samples],
    278: [page.height],
    279: page.strips.map((strip) => strip.length),
    284: [page.strips.length > 1 ? 2 : 1],
  };
}

function printer(order: 'II' | 'MM') {
  return (value: number, size: 2 | 4 | 8): Buffer => {
    const bytes = Buffer.alloc(size);
    const at = order === 'MM' ? Math.max(0, size - 6) : 0;
    const width = Math.min(size, 6);
    if (order === 'II') bytes.writeUIntLE(value, 0, width);
    else bytes.writeUIntBE(value, at, width);
    return bytes;
  };
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
