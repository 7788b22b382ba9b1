/**
 * What an organization gets with its plan. The specification names the paid plans (Public, plan_interest) and leaves
 * the allowances open; a deployment may provide its own table. Spec: Limits, Metering (plan allowances).
 */
import { z } from 'zod';
import { expected, requestBody } from './resources/wire.ts';

/** A price as providers state it: in the smallest unit of the currency. */
export type Price = { readonly amount: number; readonly currency: string };

/**
 * One plan: its grant of credits, how often it is granted, the storage of each project, and how many
 * projects the organization may create, suspended ones included. If it has a price, a payment at
 * another price grants nothing.
 */
export type Plan = {
  readonly credits: number;
  readonly granted: 'once' | 'monthly';
  readonly storage_bytes: number;
  readonly projects?: number | undefined;
  readonly price?: Price | undefined;
};

/** Plans by name; the first login gets `trial`. */
export type Plans = Readonly<Record<string, Plan>> & { readonly trial: Plan };

const GIB = 1024 ** 3;

/** The plans of a deployment without its own table. */
export const defaultPlans = {
  trial: { credits: 1_000, granted: 'once', storage_bytes: GIB },
  starter: { credits: 50_000, granted: 'monthly', storage_bytes: 50 * GIB },
  builder: { credits: 250_000, granted: 'monthly', storage_bytes: 250 * GIB },
  growth: { credits: 1_500_000, granted: 'monthly', storage_bytes: 1024 * GIB },
} as const satisfies Plans;

/** The storage that a plan gives each project; a removed plan counts as the trial. */
export function planStorageBytes(plans: Plans, plan: string): number {
  return (plans[plan] ?? plans.trial).storage_bytes;
}

/** The projects that an organization of a plan may create; a removed plan counts as the trial. */
export function planProjects(plans: Plans, plan: string): number {
  return (plans[plan] ?? plans.trial).projects ?? PROJECTS_DEFAULT;
}

/** Of a plan that does not say: more than anybody needs, and an end to a loop that creates them. */
const PROJECTS_DEFAULT = 1000;

const amount = (what: string, min: number) => {
  const error = expected(what);
  return z.int({ error }).min(min, { error });
};

const price = requestBody({
  amount: amount("a whole number of the currency's smallest unit", 0),
  currency: z.string().regex(/^[A-Za-z]{3}$/, 'expected a currency of three letters, such as EUR'),
});

const plan = requestBody({
  credits: amount('a whole number of credits of at least 1', 1),
  granted: z.enum(['once', 'monthly'], { error: expected('once or monthly') }),
  storage_bytes: amount('a whole number of bytes', 0),
  projects: amount('a whole number of projects', 0).optional(),
  price: price.optional(),
});

const PLAN_NAME = /^[a-z][a-z0-9_-]{0,62}$/;

/** The content of the TINTYPE_PLANS file, parsed from YAML. */
export const plansFile = z
  .record(z.string().regex(PLAN_NAME), plan, {
    error: ({ code }) =>
      code === 'invalid_key'
        ? 'expected a name of lower-case letters, digits, _ and -'
        : 'expected plans by name, such as starter: { credits: 50000, … }',
  })
  .refine((plans) => Object.hasOwn(plans, 'trial'), {
    error: 'expected a plan called trial, which a first login gets',
  })
  .transform((plans): Plans => ({ ...plans, trial: plans['trial'] ?? defaultPlans.trial }));
