/** The room of a project where staff set none of its own. Spec: Project (storage_hard_limit_bytes). */
import type { Plans } from '../core/plans.ts';

/** What a plan allows each project; an organization on a plan that is gone has the trial's room. */
export function planStorageBytes(plans: Plans, plan: string): number {
  return (plans[plan] ?? plans.trial).storage_bytes;
}
