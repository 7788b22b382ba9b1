/**
 * What an installation needs next, from what is declared and what was seen: the database's version first, then workers
 * and the dispatcher, then what people's requests reach. What runs is never taken away by what cannot start.
 */
import { type Condition, conditionsOf, pausedConditions } from './conditions.ts';
import { judgeMigration, type Verdict } from './findings.ts';
import { type Component, components, type Installation } from './installation.ts';
import { findingsWith, verdictsOf } from './judge-parts.ts';
import type { Observed } from './observed.ts';
import { type Rendered, renderInstallation } from './render/render.ts';
import { rollOut } from './roll-out.ts';
import { apply, create, presentOf, remove, type Step } from './steps.ts';

export type Decision = {
  steps: Step[];
  conditions: Condition[];
  /** Undefined: what stands in the status stays. */
  image: string | undefined;
  components: { name: Component; image?: string; desired: number; ready: number }[];
  /** When to look again, where nothing in the cluster says so. */
  look_again_seconds: number | undefined;
};

export type Subject = {
  installation: Installation;
  observed: Observed;
  annotations: Readonly<Record<string, string>>;
  now: Date;
};

export const PAUSED = 'tintype.dev/paused';
/** How long a failed migration rests. */
const RETRY_SECONDS = 300;

export function decide({ installation, observed, annotations, now }: Subject): Decision {
  const seen = { components: countsOf(observed), image: undefined };
  if (annotations[PAUSED] === 'true') {
    return { ...seen, steps: [], conditions: pausedConditions(), look_again_seconds: undefined };
  }
  const rendered = renderInstallation(installation);
  const blocked = findBlock(installation, observed);
  if (blocked !== undefined) {
    const verdicts = verdictsOf(rendered, observed, () => block(blocked));
    const findings = findingsWith({ migration: blocked, verdicts, rendered, observed });
    const conditions = conditionsOf(findings);
    return { ...seen, steps: [], conditions, look_again_seconds: RETRY_SECONDS };
  }
  if (observed.migration.state !== 'complete') {
    return { ...seen, ...migrateFirst(rendered, observed, now) };
  }
  return { ...seen, ...rollOut(installation, rendered, observed) };
}

/** What has to be mended by somebody before anything may be started. */
function findBlock({ spec }: Installation, { secrets, database }: Observed): Verdict | undefined {
  const [first] = secrets;
  if (first !== undefined) {
    return { reason: first.reason, message: secrets.map(({ message }) => message).join(' ') };
  }
  const secret = `Secret '${spec.databaseSecretRef.name}' (\`spec.databaseSecretRef\`)`;
  const why = database.why === undefined ? '' : ` (${database.why})`;
  if (database.state === 'unreachable') {
    const message = `PostgreSQL does not answer at the address in ${secret}${why}: check the address, the password and whether the server runs.`;
    return { reason: 'DatabaseUnreachable', message };
  }
  if (database.state === 'other') {
    const message = `${secret} names another database than the operator works with${why}: give both the same, or run a second operator.`;
    return { reason: 'DatabaseMismatch', message };
  }
  return undefined;
}

function block({ message }: Verdict): Verdict {
  return { reason: 'Blocked', message: `Waits until this is mended: ${message}` };
}

type Next = Pick<Decision, 'steps' | 'conditions' | 'look_again_seconds'>;

function migrateFirst(rendered: Rendered, observed: Observed, now: Date): Next {
  const { migration } = observed;
  const verdict = judgeMigration(rendered.migration.metadata.name, migration);
  const isStuck = migration.state === 'failed';
  const waiting = { reason: 'WaitingForMigration' as const, message: verdict.message };
  const verdicts = verdictsOf(rendered, observed, () => (isStuck ? block(verdict) : waiting));
  const rested = now.getTime() - (migration.failed_at?.getTime() ?? 0) >= RETRY_SECONDS * 1000;
  return {
    steps: [
      ...rendered.ground.map(apply),
      ...(migration.state === 'absent' ? [create(rendered.migration)] : []),
      ...(isStuck && rested ? [remove(presentOf(rendered.migration))] : []),
    ],
    conditions: conditionsOf(findingsWith({ migration: verdict, verdicts, rendered, observed })),
    look_again_seconds: isStuck ? RETRY_SECONDS : undefined,
  };
}

function countsOf({ deployments }: Observed): Decision['components'] {
  return components.flatMap((name) => {
    const state = deployments[name];
    if (state === undefined) return [];
    const { image, desired, ready } = state;
    return [{ name, ...(image === undefined ? {} : { image }), desired, ready }];
  });
}
