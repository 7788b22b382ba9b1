// Which watermark a derived image gets, and where. Spec: Watermark preset; Output rules 5.
import type { Size } from './geometry.ts';
import type { ParsedChain } from './operations.ts';

/**
 * A preset with its image: `width` and `height` are the image's own; offsets are in output pixels
 * (negative ones count from the right and the bottom); `opacity` is 0..100.
 */
export type WatermarkFacts = Size & {
  readonly object_key: string;
  readonly x_offset: number;
  readonly y_offset: number;
  readonly opacity: number;
  readonly revision_tag: string;
};

/** A watermark as drawn: top left and size in output pixels, opacity 1..100. */
export type WatermarkPlan = Size & {
  readonly object_key: string;
  readonly x: number;
  readonly y: number;
  readonly opacity: number;
  readonly revision_tag: string;
};

/**
 * The preset that applies to a derived image: the one named in the chain if the project has it,
 * otherwise the project's default, with or without a watermark operation; null when there is
 * neither.
 */
export function chooseWatermark<Preset>(
  chain: ParsedChain,
  project: {
    readonly presets: ReadonlyMap<string, Preset>;
    readonly default_watermark_preset_id: string | null;
  },
): Preset | null {
  const named = project.presets.get(chain.watermark?.preset_id ?? '');
  return named ?? project.presets.get(project.default_watermark_preset_id ?? '') ?? null;
}

/** Shrinks the image to fit the output, never enlarges it, and moves it completely inside. */
export function placeWatermark(facts: WatermarkFacts | null, output: Size): WatermarkPlan | null {
  if (facts === null || facts.opacity <= 0) return null;
  const { width, height } = shrink(facts, output);
  return {
    object_key: facts.object_key,
    revision_tag: facts.revision_tag,
    width,
    height,
    x: position(facts.x_offset, output.width - width),
    y: position(facts.y_offset, output.height - height),
    opacity: facts.opacity,
  };
}

function shrink(picture: Size, output: Size): Size {
  const factor = Math.min(1, output.width / picture.width, output.height / picture.height);
  return {
    width: side(picture.width * factor, output.width),
    height: side(picture.height * factor, output.height),
  };
}

function side(length: number, max: number): number {
  return Math.min(max, Math.max(1, Math.round(length)));
}

// `room` is how far the image can move; a negative offset is measured from the far edge.
function position(offset: number, room: number): number {
  const from = offset < 0 ? room + offset : offset;
  return Math.min(Math.max(from, 0), room);
}
