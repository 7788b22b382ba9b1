/**
 * An SVG made safe, as pure code: read strictly, kept as far as allowed, its cost known before anything
 * draws it, written anew. Spec: What the service does; Limits, Uploads (SVG complexity).
 */
import { type DrawingNeeds, readComplexity } from './complexity.ts';
import { parseSvg } from './parse-svg.ts';
import { naturalSize, onGrid, rasterGrid } from './raster-grid.ts';
import { printSvg } from './svg-node.ts';

export type SanitizedSvg = {
  /** As stored and served. */
  readonly vector: string;
  /** The same with the grid for its size, to be drawn once. */
  readonly drawing: string;
  /** For drawing it. */
  readonly needs: DrawingNeeds;
};

/** Throws IngestRefusal where the file itself is at fault. */
export function sanitizeSvg(bytes: Uint8Array): SanitizedSvg {
  const root = parseSvg(bytes);
  const size = naturalSize(root);
  const grid = rasterGrid(size);
  const drawing = onGrid(root, size, grid);
  const needs = readComplexity(drawing, grid);
  return { vector: printSvg(root), drawing: printSvg(drawing), needs };
}
