/** What drawing an element costs with all that is drawn as part of it, as it is added up on the way to the picture. */
import { joinPeaks, type Peak } from './peak-memory.ts';

export type Cost = {
  elements: number;
  /** What a paint is painted on. */
  shapes: number;
  /** What a marker is drawn at. */
  vertices: number;
  layers: number;
  layer_depth: number;
  filter_pixels: number;
  /** Of one core. */
  ns: number;
  /** What strokes would cost that only an element around can give. */
  stroke_ns: number;
  /** Pixels that a paint of an element around would cover. */
  area: number;
  /** What a dashed stroke of an element around would go along, in what its dashes are told in. */
  length: number;
  /** The widest of the strokes along it, in the same. */
  width: number;
  peak: Peak;
};

/** What is drawn as part of an element takes on its paints and markers. */
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
  cost.filter_pixels += more.filter_pixels * times;
  cost.ns += more.ns * times;
  cost.layer_depth = Math.max(cost.layer_depth, more.layer_depth);
}
