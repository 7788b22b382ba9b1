/**
 * Sanitizes an SVG in pure code: parsed strictly, reduced to what is allowed, its cost known before anything draws it,
 * written again. Spec: What the service does; Limits, Uploads (SVG complexity).
 */
import { type DrawingNeeds, readComplexity } from './complexity.ts';
import { parseSvg } from './parse-svg.ts';
import { naturalSize, onGrid, rasterGrid } from './raster-grid.ts';
import { printSvg } from './svg-node.ts';

export type SanitizedSvg = {
  /** As stored and served. */
  readonly vector: string;
  /** The same with the grid as its size, to be drawn once. */
  readonly drawing: string;
  /** The needs of drawing it. */
  readonly needs: DrawingNeeds;
};

/** Throws IngestRefusal when the file itself is at fault. */
export function sanitizeSvg(bytes: Uint8Array): SanitizedSvg {
  const root = parseSvg(bytes);
  const size = naturalSize(root);
  const grid = rasterGrid(size);
  const drawing = onGrid(root, size, grid);
  const needs = readComplexity(drawing, grid);
  return { vector: printSvg(root), drawing: printSvg(drawing), needs };
}
