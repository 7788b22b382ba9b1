/** The observed state of an installation, read from Kubernetes objects into what the decision needs. */
import { z } from 'zod';
import type { KnownRoute } from '../routes/live-route.ts';
import type { Reason } from './conditions.ts';
import type { ConfigMapProblem } from './config-maps.ts';
import type { Component } from './installation.ts';
import { conditions, failureOf, findUnschedulable, lastLine } from './pods.ts';
import { REVISION, ROLLED_BACK, ROLLED_BACK_SPEC, ROLLED_BACK_WHY } from './render/deployments.ts';
import type { SecretProblem } from './secrets.ts';

export type Observed = {
  /** Problems of the Secrets and ConfigMaps that it names. */
  problems: readonly (SecretProblem | ConfigMapProblem)[];
  /** The result of probing the database, and why. */
  database: {
    state: 'reachable' | 'unreachable' | 'other' | 'taken' | 'not asked';
    why?: string;
    /** Changes when the database is recreated, even at the same address. */
    id?: string;
  };
  /** The results of probing the broker and the buckets. */
  broker: Verdict;
  storage: Verdict;
  /**
   * Since when database, broker and buckets have been usable; undefined if the last probe failed.
   */
  usable_since: Date | undefined;
  migration: JobState;
  deployments: Readonly<Partial<Record<Component, DeploymentState>>>;
  /** Parts whose number of workers KEDA fails to set. */
  scalingProblems: Readonly<Partial<Record<Component, ScalingProblem>>>;
  /** Its own existing routes, of either kind. */
  routes: readonly KnownRoute[];
  /** The existing CronJobs, by full name. */
  cronJobs: readonly CronJobState[];
  /** The image that all parts ran when all were last ready. */
  last_image: string | undefined;
  /** The objects that the installation owns now. */
  present: readonly Present[];
};

export type Verdict = { reason: Reason; message: string };

export type Present = { apiVersion: string; kind: string; name: string };

export type JobState = {
  state: 'absent' | 'running' | 'complete' | 'failed';
  /** The last line that the Job logged, if known. */
  last_line?: string;
  failed_at?: Date;
  /** Why its pod does not start, as Kubernetes reports it. */
  failing?: string;
  /** Why no node takes its pod. */
  unschedulable?: string;
  /** Since when the Job runs, if no pod was ever created for it. */
  podless_since?: Date;
};

export type DeploymentState = {
  /** The revision that the Deployment was updated to. */
  revision: string | undefined;
  image: string | undefined;
  /** Whether Kubernetes has observed the last change. */
  isSeen: boolean;
  desired: number;
  updated: number;
  /** Old and new pods together. */
  ready: number;
  total: number;
  /** New pods exceeded the progress deadline. */
  isLate: boolean;
  /** The revision that did not become ready and was rolled back, why, and a digest of its spec. */
  rolled_back?: { revision: string; why: string; spec?: string };
  /** Whether the current revision has been fully ready once. */
  isRolledOut: boolean;
  /** Since when it has had fewer pods than it needs. */
  unavailable_since?: Date;
  /** Why Kubernetes creates no pods. */
  refusal?: string;
  /** Why a pod does not start, as Kubernetes reports it. */
  failing?: string;
  /** Why no node takes a pod. */
  unschedulable?: string;
};

export type CronJobState = { name: string; isSuspended: boolean; lastRunFailed: boolean };

const born = z.object({ creationTimestamp: z.string().default('') });

const jobShape = z.object({
  metadata: born.prefault({}),
  status: z
    .object({ conditions, active: z.number().default(0), failed: z.number().default(0) })
    .prefault({}),
});

export function readJob(job: unknown, pods: readonly unknown[]): JobState {
  if (job === undefined) return { state: 'absent' };
  const { metadata, status } = jobShape.parse(job);
  const found = status.conditions;
  const is = (type: string) => found.find((each) => each.type === type && each.status === 'True');
  if (is('Complete') || is('SuccessCriteriaMet')) return { state: 'complete' };
  const last_line = lastLine(pods);
  const line = last_line === undefined ? {} : { last_line };
  const failed = is('Failed');
  if (failed === undefined) {
    const unschedulable = findUnschedulable(pods);
    const failing = failureOf(pods);
    const isPodless = pods.length + status.active + status.failed === 0;
    return {
      ...{ state: 'running', ...line },
      ...(failing === undefined ? {} : { failing }),
      ...(unschedulable === undefined ? {} : { unschedulable }),
      ...(isPodless && { podless_since: new Date(metadata.creationTimestamp) }),
    };
  }
  const failed_at = new Date(failed.lastTransitionTime ?? 0);
  return { state: 'failed', failed_at, ...line };
}

const deploymentShape = z.object({
  metadata: z.object({
    generation: z.number().default(0),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({
    replicas: z.number().default(1),
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
    }),
  }),
  status: z
    .object({
      observedGeneration: z.number().default(0),
      replicas: z.number().default(0),
      updatedReplicas: z.number().default(0),
      readyReplicas: z.number().default(0),
      conditions,
    })
    .prefault({}),
});

/** `pods` are those of the newest version. */
export function readDeployment(deployment: unknown, pods: readonly unknown[]): DeploymentState {
  const { metadata, spec, status } = deploymentShape.parse(deployment);
  const condition = (type: string) => status.conditions.find((each) => each.type === type);
  const refused = condition('ReplicaFailure');
  const refusal = refused?.status === 'True' ? refused.message : undefined;
  const available = condition('Available');
  const since = available?.status === 'False' ? available.lastTransitionTime : undefined;
  const failing = failureOf(pods);
  const unschedulable = findUnschedulable(pods);
  return {
    revision: metadata.annotations[REVISION],
    ...readRollBack(metadata.annotations),
    image: spec.template.spec.containers[0]?.image,
    isSeen: status.observedGeneration >= metadata.generation,
    desired: spec.replicas,
    updated: status.updatedReplicas,
    ready: status.readyReplicas,
    total: status.replicas,
    isLate: condition('Progressing')?.reason === 'ProgressDeadlineExceeded',
    isRolledOut: condition('Progressing')?.reason === 'NewReplicaSetAvailable',
    ...(since === undefined ? {} : { unavailable_since: new Date(since) }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(failing === undefined ? {} : { failing }),
    ...(unschedulable === undefined ? {} : { unschedulable }),
  };
}

function readRollBack(annotations: Record<string, string>): Pick<DeploymentState, 'rolled_back'> {
  const revision = annotations[ROLLED_BACK];
  if (revision === undefined) return {};
  const [why = '', spec] = [annotations[ROLLED_BACK_WHY], annotations[ROLLED_BACK_SPEC]];
  return { rolled_back: { revision, why, ...(spec === undefined ? {} : { spec }) } };
}

const scaledShape = z.object({
  metadata: born.prefault({}),
  status: z.object({ conditions }).prefault({}),
});

/**
 * Why KEDA does not set the number of pods, as KEDA reports it, or since when it has reported
 * nothing.
 */
export type ScalingProblem = { why: string | undefined } | { silent_since: Date };

/** Undefined if KEDA does. */
export function readScalingProblem(object: unknown): ScalingProblem | undefined {
  const { metadata, status } = scaledShape.parse(object);
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined) return { silent_since: new Date(metadata.creationTimestamp) };
  return ready.status === 'False' ? { why: ready.message } : undefined;
}

const cronShape = z.object({
  spec: z.object({ suspend: z.boolean().default(false) }),
  status: z
    .object({
      lastScheduleTime: z.string().optional(),
      lastSuccessfulTime: z.string().optional(),
    })
    .prefault({}),
});

/** `jobs` are its runs. */
export function readCronJob(
  name: string,
  cronJob: unknown,
  jobs: readonly unknown[],
): CronJobState {
  const { spec } = cronShape.parse(cronJob);
  const newest = jobs
    .map((job) => ({ at: z.object({ metadata: born }).parse(job).metadata.creationTimestamp, job }))
    .toSorted((a, b) => b.at.localeCompare(a.at))[0];
  const lastRunFailed = newest !== undefined && readJob(newest.job, []).state === 'failed';
  return { name, isSuspended: spec.suspend, lastRunFailed };
}
