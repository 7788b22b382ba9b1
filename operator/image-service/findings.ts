/** What each part of an installation has come to, in a reason and a sentence that says what to do. */
import { type Finding, type PartType, reasons } from './conditions.ts';
import { type Component, components } from './installation.ts';
import type { CronJobState, DeploymentState, JobState, Verdict } from './observed.ts';
import { PROGRESS_SECONDS } from './render/deployments.ts';

type Judging = {
  now: Date;
  /** The pods that it has to have, where others may come. */
  least?: number | undefined;
};

/** Of a Deployment that was told to run what is declared. */
export function judgeDeployment(
  name: string,
  state: DeploymentState,
  { now, least = state.desired }: Judging,
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
    return { reason: 'ScaledToZero', message: `${name} has no pods, as nothing asks for any.` };
  }
  if (updated >= desired && ready >= desired && total <= updated) {
    return { reason: 'Available', message: `${name}: ${count}.` };
  }
  if (isBeingScaled(state, least)) {
    return { reason: 'Available', message: `${name}: ${count}, as their number changes.` };
  }
  return judgeUnready(name, state, now);
}

/** While it becomes smaller there are more than are asked for. */
function countOf({ ready, desired }: DeploymentState): string {
  if (ready <= desired) return `${ready} of ${desired} pods are ready`;
  return `${ready} pods are ready, where ${desired} ${desired === 1 ? 'is' : 'are'} asked for`;
}

function isBeingScaled(state: DeploymentState, least: number): boolean {
  const { failing, isRolledOut, total, updated, ready } = state;
  const isSound = isRolledOut && failing === undefined && total <= updated;
  return isSound && ready >= Math.max(1, least);
}

/** A process that waits for a server lives, and says there for which. */
const HINT = 'kubectl logs and the /readyz of a pod say what it lacks';

/** A pod that left is replaced within this, as when its node was drained: nobody has to do anything. */
const REPLACED_SECONDS = 120;

function isBeingReplaced({ unavailable_since }: DeploymentState, now: Date): boolean {
  if (unavailable_since === undefined) return false;
  return now.getTime() - unavailable_since.getTime() < REPLACED_SECONDS * 1000;
}

function judgeUnready(name: string, state: DeploymentState, now: Date): Verdict {
  const count = countOf(state);
  const { failing, unplaced, isLate, isRolledOut, ready } = state;
  const trouble = failing ?? (unplaced && `no node takes a pod: ${unplaced}`);
  const why = trouble === undefined ? '' : ` (${trouble})`;
  const others = ready > 0 ? ` The ${ready} ready ones go on.` : '';
  if (isLate) {
    const minutes = PROGRESS_SECONDS / 60;
    const cause = trouble ?? 'their logs and /readyz say what they lacked';
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

/** Those of before are ready too. */
function newOnes({ updated, total, desired }: DeploymentState): string {
  return updated < total ? `, ${updated} of ${desired} are as declared now` : '';
}

/** Of a Job that brings the database to the version of the image. */
export function judgeMigration(name: string, job: JobState): Verdict {
  const { state, last_line, failing, unplaced } = job;
  const said = last_line === undefined ? '' : `: ${last_line}`;
  if (state === 'complete') return { reason: 'Completed', message: `Job ${name} is complete.` };
  if (failing !== undefined) {
    return { reason: 'PodsFailing', message: `Job ${name} does not start: ${failing}.` };
  }
  if (unplaced !== undefined) {
    const message = `Job ${name} does not start: no node takes its pod: ${unplaced}.`;
    return { reason: 'MigrationRunning', message };
  }
  if (state !== 'failed')
    return { reason: 'MigrationRunning', message: `Job ${name} runs${said}.` };
  return {
    reason: 'MigrationFailed',
    message: `Job ${name} failed${said}. Nothing new was started; it is tried again every few minutes, and at once when a Secret or the image changes.`,
  };
}

/** By when Kubernetes has made a pod of a Job that it lets in: it tells of none that it refuses but in an event. */
export const LET_IN_SECONDS = 20;

/** Of a Job that runs, as its object says, without a pod. */
export function judgePodless(name: string, { podless_since }: JobState, now: Date) {
  if (podless_since === undefined) return undefined;
  if (now.getTime() - podless_since.getTime() < LET_IN_SECONDS * 1000) return undefined;
  const message = `Job ${name}: no pod of it was let in; \`kubectl describe job ${name}\` says why.`;
  return { reason: 'PodsRefused', message } satisfies Verdict;
}

/** `unwritten`: why those that are not there are not being written. */
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
  if (failed.length === 0) return { reason: 'Scheduled', message: 'The scheduled jobs are there.' };
  const message = `The last run of ${failed.join(', ')} failed; the next one does its work too. kubectl logs of its pod says why.`;
  return { reason: 'JobFailed', message };
}

const ORDER = ['stalled', 'moving', 'good'] as const;

/** Several Deployments that answer one question: the one that needs attention most speaks for them. */
export function worst(verdicts: readonly Verdict[]): Verdict | undefined {
  const rank = ({ reason }: Verdict) => ORDER.indexOf(reasons[reason].outcome);
  return verdicts.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Where none needs attention, all are told of. */
function together(verdicts: readonly Verdict[]): Verdict | undefined {
  const first = worst(verdicts);
  if (first === undefined || reasons[first.reason].outcome !== 'good') return first;
  return { ...first, message: verdicts.map(({ message }) => message).join(' ') };
}

/** Which condition speaks of a part. */
const typeOf: Readonly<Record<Component, PartType>> = {
  api: 'ApiAvailable',
  delivery: 'DeliveryAvailable',
  dispatcher: 'DispatcherAvailable',
  'worker-ingest': 'WorkersAvailable',
  'worker-render': 'WorkersAvailable',
};

/** By the whole name of its Deployment. */
export function partOf(name: string): PartType | undefined {
  return components.filter((each) => name.endsWith(`-${each}`)).map((each) => typeOf[each])[0];
}

export function findingsOf(verdicts: ReadonlyMap<Component, Verdict>): Finding[] {
  const types = [...new Set(Object.values(typeOf))];
  return types.flatMap((type) => {
    const own = [...verdicts].filter(([component]) => typeOf[component] === type);
    const verdict = together(own.map(([, each]) => each));
    return verdict === undefined ? [] : [{ type, ...verdict }];
  });
}
