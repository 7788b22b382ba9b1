/**
 * The conditions of an ImageService, and every reason that one can carry. Ready, Reconciling and Stalled follow from the
 * others, so that they can never contradict them. Ready means: the declared installation is what runs.
 */

export type Status = 'True' | 'False' | 'Unknown';

export const conditionTypes = [
  'Ready',
  'MigrationComplete',
  'ApiAvailable',
  'DeliveryAvailable',
  'DispatcherAvailable',
  'WorkersAvailable',
  'CronJobsScheduled',
  'Reconciling',
  'Stalled',
] as const;

export type ConditionType = (typeof conditionTypes)[number];
export type PartType = Exclude<ConditionType, 'Ready' | 'Reconciling' | 'Stalled'>;

export type Condition = { type: ConditionType; status: Status; reason: Reason; message: string };

/**
 * What a reason means for the whole: `good`: as declared. `moving`: on its way there by itself. `stuck`: somebody has to
 * do something; the message says what.
 */
export type Outcome = 'good' | 'moving' | 'stuck';

/** Every reason, what it comes to, and what it means. */
export const reasons = {
  Running: { outcome: 'good', meaning: 'Everything that is declared runs.' },
  Completed: { outcome: 'good', meaning: 'The database is at the version of the image.' },
  Available: { outcome: 'good', meaning: 'All pods of the part run as declared and are ready.' },
  ScaledToZero: { outcome: 'good', meaning: 'The part is declared to have no pods now.' },
  Scheduled: { outcome: 'good', meaning: 'The scheduled jobs are there.' },
  Suspended: { outcome: 'good', meaning: 'The scheduled jobs are suspended, as declared.' },
  Settled: { outcome: 'good', meaning: 'There is nothing to do.' },
  Paused: {
    outcome: 'good',
    meaning: 'Nothing is changed while the annotation tintype.dev/paused is "true".',
  },

  MigrationRunning: {
    outcome: 'moving',
    meaning: 'The migration Job brings the database up to date.',
  },
  WaitingForMigration: { outcome: 'moving', meaning: 'The part waits for the migration Job.' },
  WaitingForWorkers: {
    outcome: 'moving',
    meaning: 'The part gets the new version once the workers and the dispatcher have it.',
  },
  RollingOut: { outcome: 'moving', meaning: 'New pods are on their way to being ready.' },
  NotApplied: { outcome: 'moving', meaning: 'The objects are being written.' },
  JobFailed: {
    outcome: 'good',
    meaning: 'The last run of a scheduled job failed; the next one does its work too.',
  },
  Progressing: {
    outcome: 'moving',
    meaning: 'The installation is on its way to what is declared.',
  },

  SecretNotFound: { outcome: 'stuck', meaning: 'A Secret that the resource names does not exist.' },
  SecretKeyMissing: { outcome: 'stuck', meaning: 'A Secret lacks a key that is needed.' },
  SecretInvalid: { outcome: 'stuck', meaning: 'A Secret holds a value that cannot be right.' },
  DatabaseUnreachable: {
    outcome: 'stuck',
    meaning: 'PostgreSQL does not answer at the address of the Secret.',
  },
  DatabaseMismatch: {
    outcome: 'stuck',
    meaning: 'The resource names another database than the operator works with.',
  },
  KedaNotInstalled: {
    outcome: 'stuck',
    meaning: 'KEDA is declared as the scaler, and the cluster does not have it.',
  },
  MigrationFailed: {
    outcome: 'stuck',
    meaning: 'The migration Job failed; nothing new was started.',
  },
  RolloutFailed: {
    outcome: 'stuck',
    meaning: 'New pods did not become ready in time; the ones before them go on.',
  },
  PodsRefused: { outcome: 'stuck', meaning: 'Kubernetes does not let the pods in.' },
  PodsFailing: { outcome: 'stuck', meaning: 'Pods cannot start.' },
  Unavailable: { outcome: 'stuck', meaning: 'No pod of the part is ready.' },
  Blocked: { outcome: 'stuck', meaning: 'Something before this has to be mended first.' },
} as const satisfies Record<string, { outcome: Outcome; meaning: string }>;

export type Reason = keyof typeof reasons;

/** What one part has come to. */
export type Finding = { type: PartType; reason: Reason; message: string };

/** All conditions, from what the parts have come to. */
export function conditionsOf(findings: readonly Finding[]): Condition[] {
  const parts = findings.map(({ type, reason, message }): Condition => {
    return { type, status: statusOf(reason), reason, message };
  });
  return [...summary(findings), ...parts].toSorted(
    (a, b) => conditionTypes.indexOf(a.type) - conditionTypes.indexOf(b.type),
  );
}

/** While nobody looks, nobody knows. */
export function pausedConditions(): Condition[] {
  const message = 'Paused: remove the annotation tintype.dev/paused to have it reconciled again.';
  const all = (type: ConditionType, status: Status): Condition => {
    return { type, status, reason: 'Paused', message };
  };
  return conditionTypes.map((type) =>
    all(type, type === 'Reconciling' || type === 'Stalled' ? 'False' : 'Unknown'),
  );
}

function statusOf(reason: Reason): Status {
  return reasons[reason].outcome === 'good' ? 'True' : 'False';
}

function summary(findings: readonly Finding[]): Condition[] {
  const of = (outcome: Outcome) =>
    findings.find(({ reason }) => reason !== 'Blocked' && reasons[reason].outcome === outcome);
  const stuck = of('stuck');
  const moving = of('moving');
  const { reason, message } = stuck ??
    moving ?? { reason: 'Running' as const, message: 'Everything that is declared runs.' };
  const settled = { reason: 'Settled' as const, message: 'There is nothing to do.' };
  return [
    { type: 'Ready', status: statusOf(reason), reason, message },
    stuck === undefined && moving !== undefined
      ? { type: 'Reconciling', status: 'True', reason: 'Progressing', message: moving.message }
      : { type: 'Reconciling', status: 'False', ...settled },
    stuck === undefined
      ? { type: 'Stalled', status: 'False', ...settled }
      : { type: 'Stalled', status: 'True', reason: stuck.reason, message: stuck.message },
  ];
}
