/** The state of each part of an installation: a reason, and a sentence that says what to do. */
import { type Finding, type PartType, reasons } from './conditions.ts';
import { type Component, components } from './installation.ts';
import type { CronJobState, DeploymentState, JobState, Verdict } from './observed.ts';
import { PROGRESS_SECONDS } from './render/deployments.ts';

type JudgeOptions = {
  now: Date;
  /** The minimum number of pods, where autoscaling may add others. */
  least?: number | undefined;
};

/** For a Deployment that was updated to what is declared. */
export function judgeDeployment(
  name: string,
  state: DeploymentState,
  { now, least = state.desired }: JudgeOptions,
): Verdict {
  const { desired, updated, ready, total } = state;
  const count = countOf(state);
  if (!state.isSeen) return { reason: 'RollingOut', message: `${name}: the change was just made.` };
  if (state.refusal !== undefined) {
    return {
      reason: 'PodsRefused',
      message: `${name}: Kubernetes refuses its pods: ${state.refusal}`,
    };
  }
  if (desired === 0 && total === 0) {
    return { reason: 'ScaledToZero', message: `${name} has no pods, as none are asked for.` };
  }
  if (updated >= desired && ready >= desired && total <= updated) {
    return { reason: 'Available', message: `${name}: ${count}.` };
  }
  if (isBeingScaled(state, least)) {
    return { reason: 'Available', message: `${name}: ${count}, as their number changes.` };
  }
  return judgeUnready(name, state, now);
}

/** While a Deployment scales down, it has more pods than desired. */
function countOf({ ready, desired }: DeploymentState): string {
  if (ready <= desired) return `${ready} of ${desired} pods are ready`;
  return `${ready} pods are ready, although only ${desired} ${desired === 1 ? 'is' : 'are'} asked for`;
}

function isBeingScaled(state: DeploymentState, least: number): boolean {
  const { failing, isRolledOut, total, updated, ready } = state;
  const isSound = isRolledOut && failing === undefined && total <= updated;
  return isSound && ready >= Math.max(1, least);
}

/** A process that waits for a server stays alive, and reports there which one. */
const HINT = 'kubectl logs and the /readyz of a pod say what it lacks';

/** A lost pod, as after its node was drained, is replaced within this time: nobody has to act. */
const REPLACED_SECONDS = 120;

function isBeingReplaced({ unavailable_since }: DeploymentState, now: Date): boolean {
  if (unavailable_since === undefined) return false;
  return now.getTime() - unavailable_since.getTime() < REPLACED_SECONDS * 1000;
}

function judgeUnready(name: string, state: DeploymentState, now: Date): Verdict {
  const count = countOf(state);
  const { failing, unschedulable, isLate, isRolledOut, ready } = state;
  const problem = failing ?? (unschedulable && `no node accepts a pod: ${unschedulable}`);
  const why = problem === undefined ? '' : ` (${problem})`;
  const others = ready > 0 ? ` The ${ready} ready ones keep running.` : '';
  if (isLate) {
    const minutes = PROGRESS_SECONDS / 60;
    const cause = problem ?? 'their logs and /readyz say what they lacked';
    const message = `${name}: new pods were not ready within ${minutes} minutes (${cause}).${others}`;
    return { reason: 'RolloutFailed', message };
  }
  if (failing !== undefined) {
    return {
      reason: 'PodsFailing',
      message: `${name}: a pod does not start: ${failing}.${others}`,
    };
  }
  if (isRolledOut && ready === 0 && !isBeingReplaced(state, now)) {
    return { reason: 'Unavailable', message: `${name}: ${count}${why}; ${HINT}.` };
  }
  return { reason: 'RollingOut', message: `${name}: ${count}${newOnes(state)}${why}.` };
}

/** Says how many pods are new, as old ones count as ready too. */
function newOnes({ updated, total, desired }: DeploymentState): string {
  return updated < total ? `, ${updated} of ${desired} are as declared now` : '';
}

/** For the Job that migrates the database to the image's version. */
export function judgeMigration(name: string, job: JobState): Verdict {
  const { state, last_line, failing, unschedulable } = job;
  const said = last_line === undefined ? '' : `: ${last_line}`;
  if (state === 'complete') return { reason: 'Completed', message: `Job ${name} is complete.` };
  if (failing !== undefined) {
    return { reason: 'PodsFailing', message: `Job ${name} does not start: ${failing}.` };
  }
  if (unschedulable !== undefined) {
    const message = `Job ${name} does not start: no node accepts its pod: ${unschedulable}.`;
    return { reason: 'MigrationRunning', message };
  }
  if (state !== 'failed')
    return { reason: 'MigrationRunning', message: `Job ${name} runs${said}.` };
  return {
    reason: 'MigrationFailed',
    message: `Job ${name} failed${said}. Nothing new was started; the operator tries again every few minutes, and at once when a Secret or the image changes.`,
  };
}

/**
 * Kubernetes creates the pod of a Job within this time if it admits it; a refusal shows only in an
 * Event.
 */
export const ADMISSION_SECONDS = 20;

/** For a Job whose status says that it runs, but that has no pod. */
export function judgePodless(name: string, { podless_since }: JobState, now: Date) {
  if (podless_since === undefined) return undefined;
  if (now.getTime() - podless_since.getTime() < ADMISSION_SECONDS * 1000) return undefined;
  const message = `Job ${name}: its pod was not admitted; \`kubectl describe job ${name}\` says why.`;
  return { reason: 'PodsRefused', message } satisfies Verdict;
}

/** `unwritten`: why missing CronJobs are not written at present. */
export function judgeCronJobs(
  wanted: readonly string[],
  found: readonly CronJobState[],
  unwritten?: Verdict,
): Verdict {
  const missing = wanted.filter((name) => !found.some((each) => each.name === name));
  if (missing.length > 0) {
    const message = `CronJobs are being written: ${missing.join(', ')}.`;
    return unwritten ?? { reason: 'NotApplied', message };
  }
  if (found.some(({ isSuspended }) => isSuspended)) {
    const message = 'The scheduled jobs are suspended: usage is not charged meanwhile.';
    return { reason: 'Suspended', message };
  }
  const failed = found.filter(({ lastRunFailed }) => lastRunFailed).map(({ name }) => name);
  if (failed.length === 0) return { reason: 'Scheduled', message: 'The scheduled jobs exist.' };
  const message = `The last run of ${failed.join(', ')} failed; the next one does its work too. kubectl logs of its pod says why.`;
  return { reason: 'JobFailed', message };
}

const ORDER = ['stalled', 'moving', 'good'] as const;

/** Chooses the most urgent of several verdicts to represent them all. */
export function mostSevere(verdicts: readonly Verdict[]): Verdict | undefined {
  const rank = ({ reason }: Verdict) => ORDER.indexOf(reasons[reason].outcome);
  return verdicts.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Where none is urgent, the message includes all. */
function combine(verdicts: readonly Verdict[]): Verdict | undefined {
  const first = mostSevere(verdicts);
  if (first === undefined || reasons[first.reason].outcome !== 'good') return first;
  return { ...first, message: verdicts.map(({ message }) => message).join(' ') };
}

/** The condition that reports each part. */
const typeOf: Readonly<Record<Component, PartType>> = {
  api: 'ApiAvailable',
  delivery: 'DeliveryAvailable',
  dispatcher: 'DispatcherAvailable',
  'worker-ingest': 'WorkersAvailable',
  'worker-render': 'WorkersAvailable',
};

/** By the full name of its Deployment. */
export function partOf(name: string): PartType | undefined {
  return components.filter((each) => name.endsWith(`-${each}`)).map((each) => typeOf[each])[0];
}

export function findingsOf(verdicts: ReadonlyMap<Component, Verdict>): Finding[] {
  const types = [...new Set(Object.values(typeOf))];
  return types.flatMap((type) => {
    const own = [...verdicts].filter(([component]) => typeOf[component] === type);
    const verdict = combine(own.map(([, each]) => each));
    return verdict === undefined ? [] : [{ type, ...verdict }];
  });
}
