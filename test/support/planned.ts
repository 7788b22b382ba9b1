/** A photograph and a drawing as plans describe them, and the plan of a chain for one. */
import { parseChain } from '../../runtime/core/delivery/chain.ts';
import {
  planRender,
  type RenderPlan,
  type SourceFacts,
  type WatermarkFacts,
} from '../../runtime/core/delivery/plan.ts';

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

/** Throws if there is no plan. */
export function mustPlan(chain: string, source = photo): RenderPlan {
  const found = plan(chain, source);
  if (found === undefined) throw new Error(`${chain} has no plan`);
  return found;
}
