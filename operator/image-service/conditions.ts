/**
 * The conditions of an ImageService, and every reason that one can carry. Ready, Reconciling and Stalled are derived
 * from the others, so that they never contradict them. Ready means: the installation runs as declared.
 */

export type Status = 'True' | 'False' | 'Unknown';

export const conditionTypes = [
  'Ready',
  'Applied',
  'BrokerUsable',
  'StorageUsable',
  'MigrationComplete',
  'ApiAvailable',
  'DeliveryAvailable',
  'DispatcherAvailable',
  'WorkersAvailable',
  'CronJobsScheduled',
  'Routed',
  'Reconciling',
  'Stalled',
] as const;

export type ConditionType = (typeof conditionTypes)[number];
export type PartType = Exclude<ConditionType, 'Ready' | 'Reconciling' | 'Stalled'>;

export type Condition = { type: ConditionType; status: Status; reason: Reason; message: string };

/** `good`: as declared. `moving`: on its way. `stalled`: somebody must act, as the message says. */
export type Outcome = 'good' | 'moving' | 'stalled';

/** Every reason with its outcome and its meaning. */
export const reasons = {
  Running: { outcome: 'good', meaning: 'Everything that is declared runs.' },
  AsRendered: { outcome: 'good', meaning: 'Every object is as rendered.' },
  ChangedOnWayIn: {
    outcome: 'good',
    meaning:
      'A policy or webhook of the cluster changes objects on admission; they stay as it changes them.',
  },
  Usable: {
    outcome: 'good',
    meaning: 'The service responds and does what the installation needs.',
  },
  NotChecked: {
    outcome: 'good',
    meaning: 'The operator cannot test the service from where it runs; pods report what they lack.',
  },
  NotCheckedYet: {
    outcome: 'moving',
    meaning: 'The service is tested once the Secrets and ConfigMaps are correct.',
  },
  CorsMissing: {
    outcome: 'good',
    meaning: 'The bucket for uploads accepts none from browsers; everything else works.',
  },
  Completed: { outcome: 'good', meaning: 'The database is at the version of the image.' },
  Available: {
    outcome: 'good',
    meaning: 'All pods of the component run as declared and are ready.',
  },
  ScaledToZero: {
    outcome: 'good',
    meaning: 'The component is currently declared to have no pods.',
  },
  Scheduled: { outcome: 'good', meaning: 'The scheduled jobs exist.' },
  Suspended: { outcome: 'good', meaning: 'The scheduled jobs are suspended, as declared.' },
  Routed: { outcome: 'good', meaning: 'Every route of the installation is served.' },
  NoAddress: {
    outcome: 'good',
    meaning:
      'An Ingress has no address: no controller serves it yet, or its controller never sets one. `Ready` does not wait for it.',
  },
  RoutedByOthers: {
    outcome: 'good',
    meaning: 'The routes are managed outside the operator, as declared.',
  },
  Settled: { outcome: 'good', meaning: 'There is nothing to do.' },
  Paused: {
    outcome: 'good',
    meaning: 'Nothing is changed while the annotation tintype.dev/paused is "true".',
  },

  MigrationRunning: {
    outcome: 'moving',
    meaning: 'The migration Job is migrating the database.',
  },
  WaitingForMigration: {
    outcome: 'moving',
    meaning: 'The component, or its objects, wait for the migration Job.',
  },
  WaitingForWorkers: {
    outcome: 'moving',
    meaning: 'The component gets the new version once the workers and the dispatcher have it.',
  },
  NotAdmitted: {
    outcome: 'moving',
    meaning: 'An HTTPRoute is written, but the declared Gateway has not accepted it yet.',
  },
  RollingOut: { outcome: 'moving', meaning: 'New pods are starting and not ready yet.' },
  NotApplied: { outcome: 'moving', meaning: 'The objects are being written.' },
  JobFailed: {
    outcome: 'good',
    meaning: 'The last run of a scheduled job failed; the next run also does its work.',
  },
  Progressing: {
    outcome: 'moving',
    meaning: 'The installation is changing to the declared state.',
  },

  SecretNotFound: {
    outcome: 'stalled',
    meaning: 'A Secret that the resource names does not exist.',
  },
  SecretKeyMissing: { outcome: 'stalled', meaning: 'A Secret lacks a required key.' },
  SecretInvalid: { outcome: 'stalled', meaning: 'A Secret holds an invalid value.' },
  ConfigMapNotFound: {
    outcome: 'stalled',
    meaning: 'A ConfigMap that the resource names does not exist.',
  },
  ConfigMapKeyMissing: { outcome: 'stalled', meaning: 'A ConfigMap lacks a required key.' },
  DatabaseUnavailable: {
    outcome: 'stalled',
    meaning: 'PostgreSQL cannot be used at the URL in the Secret.',
  },
  DatabaseMismatch: {
    outcome: 'stalled',
    meaning: 'The resource names a different database than the one that the operator uses.',
  },
  DatabaseTaken: {
    outcome: 'stalled',
    meaning: 'Another ImageService already uses the database.',
  },
  NamespaceNotServed: {
    outcome: 'stalled',
    meaning: 'No operator serves ImageServices in this namespace.',
  },
  SpecInvalid: {
    outcome: 'stalled',
    meaning: 'A field has an invalid value that the API server could not detect.',
  },
  BrokerUnusable: {
    outcome: 'stalled',
    meaning: 'RabbitMQ does not respond, or does not do what the installation needs.',
  },
  StorageUnusable: {
    outcome: 'stalled',
    meaning: 'A bucket does not exist, or cannot be written and read.',
  },
  ObjectTaken: {
    outcome: 'stalled',
    meaning: 'An object of the same name was created by somebody else; it is left unchanged.',
  },
  ObjectUndone: {
    outcome: 'stalled',
    meaning: 'Somebody reverts an object after each write; it is written less and less often.',
  },
  ReadRefused: {
    outcome: 'stalled',
    meaning: 'The API server does not let the operator read an object that it needs.',
  },
  ObjectRefused: { outcome: 'stalled', meaning: 'The API server rejects an object.' },
  PlanOnly: {
    outcome: 'moving',
    meaning: 'The changes are planned but not written, as the resource requests.',
  },
  RouteRefused: { outcome: 'stalled', meaning: 'The Gateway refuses a route of the installation.' },
  GatewayAPIMissing: { outcome: 'stalled', meaning: 'The cluster has no HTTPRoutes.' },
  KedaNotInstalled: {
    outcome: 'stalled',
    meaning: 'KEDA is declared as the scaler, but is not installed in the cluster.',
  },
  ScalingFailed: {
    outcome: 'stalled',
    meaning:
      'KEDA reports that it cannot set the number of workers, or has reported nothing for five minutes.',
  },
  MigrationFailed: {
    outcome: 'stalled',
    meaning: 'The migration Job failed; nothing new was started.',
  },
  RolloutFailed: {
    outcome: 'stalled',
    meaning: 'New pods did not become ready in time; the previous pods keep running.',
  },
  RolledBack: {
    outcome: 'stalled',
    meaning: 'A new image did not become ready in time; the previous image runs again.',
  },
  PodsRefused: { outcome: 'stalled', meaning: 'Kubernetes refuses to create the pods.' },
  PodsFailing: { outcome: 'stalled', meaning: 'Pods cannot start.' },
  Unavailable: {
    outcome: 'stalled',
    meaning: 'No pod of the component has been ready for two minutes.',
  },
  Blocked: { outcome: 'stalled', meaning: 'An earlier problem must be fixed first.' },
} as const satisfies Record<string, { outcome: Outcome; meaning: string }>;

export type Reason = keyof typeof reasons;

/** The state of one part. */
export type Finding = { type: PartType; reason: Reason; message: string };

/** All conditions, derived from the findings of the parts. */
export function conditionsOf(findings: readonly Finding[]): Condition[] {
  const parts = findings.map(({ type, reason, message }): Condition => {
    return { type, status: statusOf(reason), reason, message };
  });
  return [...summary(findings), ...parts].toSorted(
    (a, b) => conditionTypes.indexOf(a.type) - conditionTypes.indexOf(b.type),
  );
}

/** The same conditions with one finding replaced. */
export function withFinding(conditions: readonly Condition[], finding: Finding): Condition[] {
  const parts = conditions.filter(isOfPart).filter(({ type }) => type !== finding.type);
  return conditionsOf([finding, ...parts]);
}

function isOfPart(condition: Condition): condition is Condition & { type: PartType } {
  return !['Ready', 'Reconciling', 'Stalled'].includes(condition.type);
}

/** Reasons that leave the condition's status Unknown. */
const UNKNOWN_REASONS: readonly Reason[] = ['NotCheckedYet', 'NoAddress', 'RoutedByOthers'];

function statusOf(reason: Reason): Status {
  if (UNKNOWN_REASONS.includes(reason)) return 'Unknown';
  return reasons[reason].outcome === 'good' ? 'True' : 'False';
}

function summary(findings: readonly Finding[]): Condition[] {
  const of = (outcome: Outcome) =>
    findings.find(({ reason }) => reason !== 'Blocked' && reasons[reason].outcome === outcome);
  const stalled = of('stalled');
  const moving = of('moving');
  const { reason, message } = stalled ??
    moving ?? { reason: 'Running' as const, message: 'Everything that is declared runs.' };
  const settled = { reason: 'Settled' as const, message: 'There is nothing to do.' };
  return [
    { type: 'Ready', status: statusOf(reason), reason, message },
    stalled === undefined && moving !== undefined
      ? { type: 'Reconciling', status: 'True', reason: 'Progressing', message: moving.message }
      : { type: 'Reconciling', status: 'False', ...settled },
    stalled === undefined
      ? { type: 'Stalled', status: 'False', ...settled }
      : { type: 'Stalled', status: 'True', reason: stalled.reason, message: stalled.message },
  ];
}
