/** The storage limit of a project for which staff have set none. Spec: Project (storage_hard_limit_bytes). */
import type { Plans } from '../core/plans.ts';

/** The storage that a plan gives each project; a removed plan counts as the trial. */
export function planStorageBytes(plans: Plans, plan: string): number {
  return (plans[plan] ?? plans.trial).storage_bytes;
}
