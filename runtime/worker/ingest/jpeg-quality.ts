/**
 * Estimates the quality with which a JPEG was encoded, from its quantization tables. Tables of Annex K, as most
 * encoders scale them, are reproduced exactly when encoding with that quality: almost nothing changes, however low it
 * is. Other tables are only approximated, which is good enough from the stored minimum on. Spec: What the service does.
 */
import { STORED_QUALITY_MIN } from '../../core/limits.ts';

/** The values of a table, in file order. */
export type QuantizationTable = readonly number[];

// biome-ignore format: the tables of ITU-T T.81, Annex K, along the zigzag
const LUMINANCE: QuantizationTable = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40,
  26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61, 60, 57, 51,
  56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87,
  95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99,
];
// biome-ignore format: as above
const CHROMINANCE: QuantizationTable = [
  17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
  99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
];

/** Null when there is no table. `tables`: the tables of the components, luminance first. */
export function jpegQuality(tables: readonly (QuantizationTable | undefined)[]): number | null {
  const [luminance, ...others] = tables;
  if (luminance === undefined) return null;
  const quality = estimate(luminance);
  const isUsual =
    isScaled(luminance, LUMINANCE, quality) &&
    others.every((table) => table !== undefined && isOfAnnexK(table, quality));
  return isUsual ? quality : Math.max(quality, STORED_QUALITY_MIN);
}

function isOfAnnexK(table: QuantizationTable, quality: number): boolean {
  return [LUMINANCE, CHROMINANCE].some((usual) => isScaled(table, usual, quality));
}

/** The inverse of the scaling in libjpeg and most other encoders. */
function estimate(table: QuantizationTable): number {
  const scale = (100 * sumOf(table)) / sumOf(LUMINANCE);
  const quality = scale <= 100 ? (200 - scale) / 2 : 5000 / scale;
  return Math.min(Math.max(Math.round(quality), 1), 100);
}

function isScaled(table: QuantizationTable, usual: QuantizationTable, quality: number): boolean {
  const scale = quality < 50 ? Math.floor(5000 / quality) : 200 - quality * 2;
  return usual.every((value, index) => {
    const scaled = Math.floor((value * scale + 50) / 100);
    return table[index] === Math.min(Math.max(scaled, 1), 255);
  });
}

function sumOf(table: QuantizationTable): number {
  return table.reduce((sum, value) => sum + value, 0);
}
