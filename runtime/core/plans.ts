/**
 * What an organization gets by its plan. The specification names the paid plans (Public,
 * plan_interest) and leaves the allowances open; a deployment may bring its own table.
 */

/** One plan: its grant of credits, how often it is granted, and the storage of each project. */
export type Plan = {
  readonly credits: number;
  readonly granted: 'once' | 'monthly';
  readonly storage_bytes: number;
};

/** Plans by name; `trial` is what a first login gets. */
export type Plans = Readonly<Record<string, Plan>> & { readonly trial: Plan };

const GIB = 1024 ** 3;

/** The plans of a deployment that brings none. */
export const defaultPlans = {
  trial: { credits: 1_000, granted: 'once', storage_bytes: GIB },
  starter: { credits: 50_000, granted: 'monthly', storage_bytes: 50 * GIB },
  builder: { credits: 250_000, granted: 'monthly', storage_bytes: 250 * GIB },
  growth: { credits: 1_500_000, granted: 'monthly', storage_bytes: 1024 * GIB },
} as const satisfies Plans;
