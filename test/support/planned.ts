/** The source facts of a photograph and a drawing, and the plan of a transform chain for one of them. */
import { parseChain } from '../../runtime/core/delivery/chain.ts';
import type { SourceFacts } from '../../runtime/core/delivery/geometry.ts';
import { planRender, type RenderPlan } from '../../runtime/core/delivery/plan.ts';
import type { WatermarkFacts } from '../../runtime/core/delivery/watermark.ts';

export const photo: SourceFacts = {
  content_type: 'image/jpeg',
  width: 4000,
  height: 3000,
  has_alpha: false,
  is_lossless: false,
  focal_x: 0.3,
  focal_y: 0.6,
};
export const drawing: SourceFacts = {
  ...photo,
  content_type: 'image/svg+xml',
  width: 2048,
  height: 1024,
};

export function plan(
  chain: string,
  source = photo,
  watermark: WatermarkFacts | null = null,
): RenderPlan | undefined {
  const parsed = parseChain(chain);
  return parsed && planRender({ source, chain: parsed, watermark });
}

/** Throws if the chain has no plan. */
export function mustPlan(chain: string, source = photo): RenderPlan {
  const found = plan(chain, source);
  if (found === undefined) throw new Error(`${chain} has no plan`);
  return found;
}
