/**
 * What an installation needs next, from its declaration and its observed state: first the database's schema version,
 * then workers and the dispatcher, then the parts that serve requests. A running part is never removed for one that
 * cannot start.
 */
import { type Condition, conditionsOf, reasons } from './conditions.ts';
import { ADMISSION_SECONDS, judgeMigration, judgePodless } from './findings.ts';
import { type Component, components, type Installation } from './installation.ts';
import {
  deploymentOf,
  findingsWith,
  type ObservedInstallation,
  verdictsOf,
} from './judge-parts.ts';
import type { JobState, Observed, Verdict } from './observed.ts';
import type { RenderedObject } from './render/object.ts';
import { type Rendered, renderInstallation } from './render/render.ts';
import { rollBack } from './roll-back.ts';
import { rollOut } from './roll-out.ts';
import { apply, create, presentOf, remove, type Step } from './steps.ts';

export type Decision = {
  steps: Step[];
  conditions: Condition[];
  /** Undefined: the image in the status stays. */
  image: string | undefined;
  components: { name: Component; image?: string; desired: number; ready: number }[];
  /** When to requeue it if no event in the cluster will trigger it. */
  requeue_after_seconds: number | undefined;
};

export type Subject = {
  installation: Installation;
  observed: Observed;
  now: Date;
};

/** The pause after a failed migration. */
const RETRY_SECONDS = 300;
/**
 * How soon to look again at a problem that somebody has to fix: Secrets and ConfigMaps are not
 * watched.
 */
export const PROBLEM_RETRY_SECONDS = 15;

export function decide({ installation, observed, now }: Subject): Decision {
  const base = {
    components: countsOf(observed),
    image: undefined,
    requeue_after_seconds: undefined,
  };
  const rendered = renderInstallation(installation);
  const seen = { of: installation, rendered, observed, now };
  const blocked = findBlock(installation, observed);
  if (blocked !== undefined) {
    const unwritten = block(firstOf(observed.problems) ?? blocked);
    const verdicts = verdictsOf(seen, unwritten);
    const migration = migrationBehind(blocked, rendered, observed);
    const conditions = conditionsOf(findingsWith({ ...seen, migration, verdicts, unwritten }));
    const steps = keepLeading(rendered, observed);
    return { ...base, steps, conditions, requeue_after_seconds: PROBLEM_RETRY_SECONDS };
  }
  if (observed.migration.state !== 'complete') {
    return { ...base, ...migrateFirst(seen) };
  }
  return { ...base, ...(rollBack(seen) ?? rollOut(seen)) };
}

/** What somebody must fix before anything may start. */
function findBlock({ spec }: Installation, observed: Observed): Verdict | undefined {
  const { problems, database, broker, storage } = observed;
  const [first] = problems;
  if (first !== undefined) {
    return { reason: first.reason, message: problems.map(({ message }) => message).join(' ') };
  }
  const secret = `Secret '${spec.databaseSecretRef.name}' (\`spec.databaseSecretRef\`)`;
  const why = database.why === undefined ? '' : ` (${database.why})`;
  if (database.state === 'unreachable') {
    const message = `PostgreSQL cannot be used at the address in ${secret}${why}: check the address, the password and whether the server runs.`;
    return { reason: 'DatabaseUnavailable', message };
  }
  if (database.state === 'other') {
    const message = `${secret} names another database than the operator uses${why}: give both the same, or run a second operator.`;
    return { reason: 'DatabaseMismatch', message };
  }
  if (database.state === 'taken') {
    const message = `${secret} names a database that another ImageService already uses${why}: one installation has one ImageService, and this one starts when that one is deleted.`;
    return { reason: 'DatabaseTaken', message };
  }
  return [broker, storage].find(({ reason }) => reasons[reason].outcome === 'stalled');
}

/**
 * A problem of the broker or storage, which have conditions of their own, does not also become the
 * migration's reason.
 */
function migrationBehind(blocked: Verdict, rendered: Rendered, observed: Observed): Verdict {
  if (blocked !== observed.broker && blocked !== observed.storage) return blocked;
  const { migration } = observed;
  const isDone = migration.state === 'complete';
  return isDone ? judgeMigration(rendered.migration.metadata.name, migration) : block(blocked);
}

/** The first problem is enough for the conditions that wait; Ready lists all. */
function firstOf([first, ...others]: Observed['problems']): Verdict | undefined {
  if (first === undefined || others.length === 0) return first;
  return { reason: first.reason, message: `${first.message} \`Ready\` lists the rest.` };
}

function block({ message }: Verdict): Verdict {
  return { reason: 'Blocked', message: `Waits until this is fixed: ${message}` };
}

type Next = Pick<Decision, 'steps' | 'conditions' | 'requeue_after_seconds'>;

function migrateFirst(parts: ObservedInstallation): Next {
  const { rendered, observed, now } = parts;
  const { migration } = observed;
  const { name } = rendered.migration.metadata;
  const refused = judgePodless(name, migration, now);
  const verdict = refused ?? judgeMigration(name, migration);
  const hasFailed = migration.state === 'failed';
  const isStalled = reasons[verdict.reason].outcome === 'stalled';
  const waiting = { reason: 'WaitingForMigration' as const, message: verdict.message };
  const unwritten = isStalled ? block(verdict) : waiting;
  const verdicts = verdictsOf(parts, unwritten);
  const judged = { ...parts, migration: verdict, verdicts, unwritten };
  const isRetryDue = now.getTime() - (migration.failed_at?.getTime() ?? 0) >= RETRY_SECONDS * 1000;
  return {
    steps: [
      ...rendered.ground.map(apply),
      ...(observed.last_image === undefined ? [] : keepServing(parts, observed.last_image)),
      ...(migration.state === 'absent' ? [create(rendered.migration)] : []),
      ...(hasFailed && isRetryDue ? [remove(presentOf(rendered.migration))] : []),
    ],
    conditions: conditionsOf(findingsWith(judged)),
    requeue_after_seconds: hasFailed ? RETRY_SECONDS : podlessSeconds(migration),
  };
}

/**
 * Keeps up what leads to the running version, and restores a missing part of it, without waiting
 * for the new version.
 */
function keepServing({ of, rendered, observed }: ObservedInstallation, image: string): Step[] {
  const before = renderInstallation({ ...of, spec: { ...of.spec, image } });
  const gone = components.filter((component) => observed.deployments[component] === undefined);
  return [...gone.map((component) => deploymentOf(before, component)), ...leading(rendered)].map(
    apply,
  );
}

/**
 * The same while something must be fixed, for what still runs; if the database belongs to another
 * installation, there is nothing to lead to.
 */
function keepLeading(rendered: Rendered, { last_image, database }: Observed): Step[] {
  const isOurs = database.state !== 'other' && database.state !== 'taken';
  return last_image !== undefined && isOurs ? leading(rendered).map(apply) : [];
}

function leading({ rest }: Rendered): RenderedObject[] {
  return rest.filter(({ kind }) => LEADING.includes(kind));
}

const LEADING: readonly string[] = ['Service', 'PodDisruptionBudget', 'Ingress', 'HTTPRoute'];

/** No event in the cluster shows that a pod is not admitted. */
function podlessSeconds({ podless_since }: JobState): number | undefined {
  return podless_since && ADMISSION_SECONDS;
}

function countsOf({ deployments }: Observed): Decision['components'] {
  return components.flatMap((name) => {
    const state = deployments[name];
    if (state === undefined) return [];
    const { image, desired, ready } = state;
    return [{ name, ...(image === undefined ? {} : { image }), desired, ready }];
  });
}
