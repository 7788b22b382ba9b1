/** The cost of drawing an element with everything drawn as part of it, summed up from the leaves to the root. */
import { joinPeaks, type Peak } from './peak-memory.ts';

export type Cost = {
  elements: number;
  /** The shapes to which a paint applies. */
  shapes: number;
  /** The points at which a marker is drawn. */
  vertices: number;
  layers: number;
  layer_depth: number;
  /** Time of one core. */
  ns: number;
  /** The cost of strokes that only an ancestor can add. */
  stroke_ns: number;
  /** Pixels that a paint of an ancestor would cover. */
  area: number;
  /** The length that a dashed stroke of an ancestor would follow, in the unit of its dashes. */
  length: number;
  /** The widest stroke along that length, in the same unit. */
  width: number;
  peak: Peak;
};

/** Everything drawn as part of an element inherits its paints and markers. */
export function addInherited(cost: Cost, more: Cost): void {
  add(cost, more);
  cost.shapes += more.shapes;
  cost.vertices += more.vertices;
  cost.stroke_ns += more.stroke_ns;
  cost.area += more.area;
  cost.length += more.length;
  cost.width = Math.max(cost.width, more.width);
  joinPeaks(cost.peak, more.peak);
}

export function add(cost: Cost, more: Cost, times = 1): void {
  cost.elements += more.elements * times;
  cost.layers += more.layers * times;
  cost.ns += more.ns * times;
  cost.layer_depth = Math.max(cost.layer_depth, more.layer_depth);
}
