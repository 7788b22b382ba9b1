// How values of PostgreSQL are read: int8 is a number (credits and bytes stay far below 2^53, and beyond it we refuse),
// date stays 'YYYY-MM-DD', numeric stays a string, timestamptz is a Date; the rest is pg's own.

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

type Parse = (text: string) => unknown;

/** By the type's number; `own` is what pg reads it with. */
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
