/** A route's maxSize: bytes, or a text such as 8MB, in binary units. Spec: Upload helper constants. */
import { HELPER_SIZE_UNITS } from '../../core/limits.ts';

export type SizeUnit = keyof typeof HELPER_SIZE_UNITS;
export type MaxSize = number | `${number}${SizeUnit}`;

/** Throws RangeError for an invalid size, when the router is created, not at the first upload. */
export function parseMaxSize(size: MaxSize): number {
  const bytes = typeof size === 'number' ? size : parseText(size);
  if (bytes !== undefined && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new RangeError(
    `maxSize ${JSON.stringify(size)} is not a size: write 8388608, 8MB or 512KB`,
  );
}

function parseText(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([KMG]?B)$/.exec(text) ?? [];
  return isUnit(unit) ? Math.floor(Number(amount) * HELPER_SIZE_UNITS[unit]) : undefined;
}

function isUnit(text: string): text is SizeUnit {
  return Object.hasOwn(HELPER_SIZE_UNITS, text);
}
