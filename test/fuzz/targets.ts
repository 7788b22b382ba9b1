/** Every parser of untrusted input, in one table. */
import type { Target } from './target.ts';
import { answerTargets } from './targets/answers.ts';
import { bodyTargets } from './targets/bodies.ts';
import { clusterTargets } from './targets/cluster.ts';
import { declarationTargets } from './targets/declarations.ts';
import { deliveryTargets } from './targets/delivery.ts';
import { drawingTargets } from './targets/drawings.ts';
import { imageTargets } from './targets/images.ts';
import { metadataTargets } from './targets/metadata.ts';
import { nameTargets } from './targets/names.ts';
import { processTargets } from './targets/processes.ts';
import { tokenTargets } from './targets/tokens.ts';

export const targets: readonly Target[] = [
  ...deliveryTargets,
  ...nameTargets,
  ...bodyTargets,
  ...tokenTargets,
  ...imageTargets,
  ...metadataTargets,
  ...drawingTargets,
  ...processTargets,
  ...declarationTargets,
  ...clusterTargets,
  ...answerTargets,
];
