/** The plans of a deployment, from the YAML file in TINTYPE_PLANS. Spec: Limits, Metering (plan allowances). */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { defaultPlans, type Plans, plansFile } from '../core/plans.ts';
import { Advice } from './advice.ts';
import type { Config } from './config.ts';

/**
 * Throws Advice that lists all faults of the file, or names a product that buys a plan missing from
 * it.
 */
export function readPlans(
  config: Pick<Config, 'plans' | 'providerAPlans' | 'providerBPlans'>,
): Plans {
  const plans = config.plans === undefined ? defaultPlans : readFile(config.plans);
  const bought = { A: config.providerAPlans, B: config.providerBPlans };
  for (const [provider, products] of Object.entries(bought)) {
    for (const [product, plan] of Object.entries(products)) {
      if (Object.hasOwn(plans, plan)) continue;
      const names = Object.keys(plans).join(', ');
      const variable = `TINTYPE_PROVIDER_${provider}_PLANS`;
      throw new Advice(
        `${variable}: ${product} buys ${plan}, which is not a plan: name one of ${names}`,
      );
    }
  }
  return plans;
}

function readFile(path: string): Plans {
  const source = `TINTYPE_PLANS, ${path}`;
  return parsePlans(
    attempt(source, () => readFileSync(path, 'utf8')),
    source,
  );
}

/** Throws Advice that names the source and lists all faults. */
export function parsePlans(text: string, source: string): Plans {
  const result = plansFile.safeParse(attempt<unknown>(source, () => parse(text)));
  if (result.success) return result.data;
  const wrong = result.error.issues.map(
    (issue) => `${issue.path.length === 0 ? 'the file' : issue.path.join('.')}: ${issue.message}`,
  );
  throw new Advice(`${source}: ${wrong.join('; ')}`);
}

function attempt<T>(source: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Advice(`${source}: expected a YAML file of plans (${why})`, { cause });
  }
}
