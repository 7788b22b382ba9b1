/** One pass over a Project resource. */
import { reconciler } from '../reconcile.ts';
import { applyProject, settleProject } from './apply.ts';
import { decideProject } from './decide.ts';
import { projectDifferences } from './differences.ts';
import { gatherProject } from './gather.ts';
import { projectSpec } from './schema.ts';

export const reconcileProject = reconciler({
  spec: projectSpec,
  gather: gatherProject,
  decide: decideProject,
  differences: projectDifferences,
  apply: applyProject,
  settle: settleProject,
});
