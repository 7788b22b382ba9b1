import { describe, expect, it } from 'vitest';
import {
  judgeDeployment,
  judgeMigration,
  judgePodless,
} from '../../../operator/image-service/findings.ts';
import {
  readCronJob,
  readDeployment,
  readJob,
  readScalingProblem,
} from '../../../operator/image-service/observed.ts';

const at = '2026-11-21T11:00:00Z';
const now = new Date(Date.parse(at) + 3_600_000);
const condition = (type: string, status: string, more: object = {}) => {
  return { type, status, lastTransitionTime: at, ...more };
};

function endedPod(message: string, more: object = {}) {
  const terminated = { exitCode: 1, reason: 'Error', message, ...more };
  return { status: { containerStatuses: [{ state: { terminated } }] } };
}

function waitingPod(waiting: object, lastState: object = {}) {
  return { status: { containerStatuses: [{ state: { waiting }, lastState }] } };
}

describe('reading a Job', () => {
  it('returns absent, running or complete', () => {
    expect(readJob(undefined, [])).toEqual({ state: 'absent' });
    expect(readJob({ status: { active: 1 } }, [])).toEqual({ state: 'running' });
    const complete = { status: { conditions: [condition('Complete', 'True')] } };
    expect(readJob(complete, [])).toEqual({ state: 'complete' });
  });

  it('returns the last line that a pod of a failed Job wrote', () => {
    const failed = { status: { conditions: [condition('Failed', 'True')] } };
    const pods = [endedPod('older\n'), endedPod('one line\ntintype: the last line\n\n')];
    expect(readJob(failed, pods)).toEqual({
      state: 'failed',
      failed_at: new Date(at),
      last_line: 'tintype: the last line',
    });
    const cut = `${'n'.repeat(499)}😀`;
    expect(readJob(failed, [endedPod(`${cut}ff`)])).toMatchObject({ last_line: cut });
  });

  it('returns the reason why its pod does not start', () => {
    const pod = waitingPod({ reason: 'ImagePullBackOff', message: 'no such image' });
    expect(judgeMigration('main-migrate', readJob({}, [pod]))).toEqual({
      reason: 'PodsFailing',
      message: 'Job main-migrate does not start: ImagePullBackOff: no such image.',
    });
  });

  it('reports that no node accepts its pod', () => {
    const reason = 'Unschedulable';
    const message = '0/3 nodes are available';
    const conditions = [condition('PodScheduled', 'False', { reason, message })];
    const job = readJob({}, [{ status: { conditions } }]);
    expect(judgeMigration('main-migrate', job).message).toBe(
      'Job main-migrate does not start: no node accepts its pod: 0/3 nodes are available.',
    );
  });
});

/** A Job created at `at`: its age in seconds, its status, its pods, and the resulting reason. */
const podless: [string, number, object, object[], 'PodsRefused' | undefined][] = [
  ['without a pod', 19, {}, [], undefined],
  ['without a pod for too long', 20, { startTime: at }, [], 'PodsRefused'],
  ['that counts a pod', 60, { active: 1 }, [], undefined],
  ['whose pod is not counted yet', 60, {}, [{}], undefined],
  ['whose pod failed and was removed', 60, { failed: 1 }, [], undefined],
  ['that is complete', 60, { conditions: [condition('Complete', 'True')] }, [], undefined],
  ['that failed', 60, { conditions: [condition('Failed', 'True')] }, [], undefined],
];

describe('judgePodless', () => {
  it.each(podless)('judges a Job %s, created %s s ago', (_name, seconds, status, pods, reason) => {
    const job = readJob({ metadata: { creationTimestamp: at }, status }, pods);
    const now = new Date(Date.parse(at) + seconds * 1000);
    const verdict = judgePodless('main-migrate', job, now);
    expect(verdict?.reason).toBe(reason);
    if (verdict) expect(verdict.message).toContain('`kubectl describe job main-migrate` says why');
  });
});

function deployment(status: object, spec: object = {}) {
  return {
    metadata: { generation: 3, annotations: { 'tintype.dev/revision': 'abc' } },
    spec: {
      replicas: 2,
      template: { spec: { containers: [{ image: 'tintype:1' }] } },
      ...spec,
    },
    status: { observedGeneration: 3, ...status },
  };
}

const full = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
const progressing = (reason: string) => ({
  conditions: [condition('Progressing', 'True', { reason })],
});

/** From what Kubernetes reports about a Deployment and its pods to the reason that people read. */
const table: [string, object, object[], string, RegExp][] = [
  ['all are ready', { ...full }, [], 'Available', /2 of 2/],
  ['the change was not seen', { ...full, observedGeneration: 2 }, [], 'RollingOut', /just/],
  [
    'new pods start',
    { replicas: 3, updatedReplicas: 1, readyReplicas: 2 },
    [],
    'RollingOut',
    /2 of 2/,
  ],
  [
    'no node has room',
    { replicas: 2, updatedReplicas: 2, readyReplicas: 1 },
    [
      {
        status: {
          conditions: [
            condition('PodScheduled', 'False', {
              reason: 'Unschedulable',
              message: '0/3 nodes are available: 3 Insufficient memory.',
            }),
          ],
        },
      },
    ],
    'RollingOut',
    /no node accepts a pod: 0\/3 nodes/,
  ],
  [
    'a pod crashes',
    { replicas: 3, updatedReplicas: 1, readyReplicas: 2 },
    [
      waitingPod(
        { reason: 'CrashLoopBackOff', message: 'back-off 40s' },
        { terminated: { reason: 'Error', message: 'the database lacks 2 migrations\n' } },
      ),
    ],
    'PodsFailing',
    /CrashLoopBackOff: the database lacks 2 migrations/,
  ],
  [
    'a pod runs out of memory',
    { replicas: 2, updatedReplicas: 2, readyReplicas: 1 },
    [waitingPod({ reason: 'CrashLoopBackOff' }, { terminated: { reason: 'OOMKilled' } })],
    'PodsFailing',
    /OOMKilled/,
  ],
  [
    'it took too long',
    {
      replicas: 3,
      updatedReplicas: 1,
      readyReplicas: 2,
      ...progressing('ProgressDeadlineExceeded'),
    },
    [],
    'RolloutFailed',
    /within 10 minutes \(their logs and \/readyz .*\)\. The 2 ready ones keep running/,
  ],
  [
    'a quota forbids pods',
    { conditions: [condition('ReplicaFailure', 'True', { message: 'exceeded quota' })] },
    [],
    'PodsRefused',
    /exceeded quota/,
  ],
  [
    'all lost their readiness',
    { replicas: 2, updatedReplicas: 2, ...progressing('NewReplicaSetAvailable') },
    [],
    'Unavailable',
    /0 of 2/,
  ],
];

describe('reading and judging a Deployment', () => {
  it.each(table)('reports reason and message when %s', (_name, status, pods, reason, message) => {
    const verdict = judgeDeployment('main-api', readDeployment(deployment(status), pods), { now });
    expect(verdict.reason).toBe(reason);
    expect(verdict.message).toMatch(message);
  });

  it('reports ScaledToZero if no replicas are wanted', () => {
    const state = readDeployment(deployment({}, { replicas: 0 }), []);
    expect(judgeDeployment('main-worker-render', state, { now }).reason).toBe('ScaledToZero');
  });

  it('reports Available while the number of pods changes, if enough of them are ready', () => {
    const pods = (readyReplicas: number, more = {}) => ({
      ...{ replicas: 3, updatedReplicas: 3, readyReplicas },
      ...progressing('NewReplicaSetAvailable'),
      ...more,
    });
    const judge = (status: object, least?: number) =>
      judgeDeployment('main-worker', readDeployment(deployment(status, { replicas: 3 }), []), {
        now,
        least,
      });
    expect(judge(pods(1), 1)).toMatchObject({
      reason: 'Available',
      message: expect.stringContaining('1 of 3'),
    });
    expect(judge(pods(1), 2).reason).toBe('RollingOut');
    expect(judge(pods(1)).reason).toBe('RollingOut');
    expect(judge(pods(0), 0).reason).toBe('Unavailable');
    expect(judge(pods(1, { updatedReplicas: 2 }), 1).reason).toBe('RollingOut');
    expect(judge(pods(1, progressing('ReplicaSetUpdated')), 1).reason).toBe('RollingOut');
  });

  it('reports RollingOut for two minutes after a pod is lost, then Unavailable', () => {
    const [available, rolled] = [
      condition('Available', 'False', { reason: 'MinimumReplicasUnavailable' }),
      ...progressing('NewReplicaSetAvailable').conditions,
    ];
    const status = { replicas: 1, updatedReplicas: 1, conditions: [available, rolled] };
    const state = readDeployment(deployment(status, { replicas: 1 }), []);
    const reasonAfter = (seconds: number) => {
      const later = new Date(Date.parse(at) + seconds * 1000);
      return judgeDeployment('main-dispatcher', state, { now: later }).reason;
    };
    expect([0, 119, 120].map(reasonAfter)).toEqual(['RollingOut', 'RollingOut', 'Unavailable']);
  });

  it('reports that there are more pods than requested', () => {
    const status = { replicas: 3, updatedReplicas: 3, readyReplicas: 3 };
    const state = readDeployment(deployment(status, { replicas: 1 }), []);
    expect(judgeDeployment('main-worker', state, { now }).message).toContain(
      'main-worker: 3 pods are ready, although only 1 is asked for',
    );
  });

  it('returns the revision, image and replicas that are declared', () => {
    const state = readDeployment(deployment(full), []);
    expect(state).toMatchObject({ revision: 'abc', image: 'tintype:1', desired: 2 });
  });
});

describe('reading a ScaledObject', () => {
  const object = (...conditions: object[]) => ({
    metadata: { creationTimestamp: at },
    ...(conditions.length > 0 && { status: { conditions } }),
  });

  it.each([
    ['returns nothing if it works', object(condition('Ready', 'True')), undefined],
    [
      'returns why the broker cannot be queried',
      object(condition('Ready', 'False', { message: 'no queue' })),
      { why: 'no queue' },
    ],
    ['returns since when KEDA has reported no condition', object(), { silent_since: new Date(at) }],
  ])('%s', (_name, live, read) => {
    expect(readScalingProblem(live)).toEqual(read);
  });
});

describe('reading a CronJob', () => {
  const run = (creationTimestamp: string, type: string) => ({
    metadata: { creationTimestamp },
    status: { conditions: [condition(type, 'True')] },
  });

  it('judges it by its newest run', () => {
    const runs = [run('2026-11-21T10:00:00Z', 'Failed'), run('2026-11-21T11:00:00Z', 'Complete')];
    const read = (jobs: object[]) => readCronJob('main-retention', { spec: {} }, jobs);
    expect(read(runs)).toEqual({
      name: 'main-retention',
      isSuspended: false,
      lastRunFailed: false,
    });
    expect(read([run('2026-11-21T12:00:00Z', 'Failed'), ...runs]).lastRunFailed).toBe(true);
    expect(read([]).lastRunFailed).toBe(false);
  });
});
