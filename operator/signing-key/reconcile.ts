/** One pass over a SigningKey resource. */
import { reconciler } from '../reconcile.ts';
import { applySigningKey } from './apply.ts';
import { decideSigningKey } from './decide.ts';
import { signingKeyDifferences } from './differences.ts';
import { gatherSigningKey } from './gather.ts';
import { signingKeySpec } from './schema.ts';

export const reconcileSigningKey = reconciler({
  spec: signingKeySpec,
  gather: gatherSigningKey,
  decide: decideSigningKey,
  differences: signingKeyDifferences,
  apply: applySigningKey,
});
