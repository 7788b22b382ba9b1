// How PostgreSQL values are parsed: int8 to a number (credits and bytes stay far below 2^53, and a larger value is
// refused), date stays 'YYYY-MM-DD', numeric stays a string, timestamptz is a Date; everything else as pg does.

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

type Parse = (text: string) => unknown;

/** By the type's oid; `own` is pg's parser for it. */
export function parserOf(oid: number, own: Parse): Parse {
  if (oid === INT8) return parseInt8;
  if (oid === DATE) return (text) => text;
  if (oid !== INT8_ARRAY) return own;
  return (text) =>
    (own(text) as (string | null)[]).map((item) => (item === null ? null : parseInt8(item)));
}

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond the exact integers`);
  return value;
}
