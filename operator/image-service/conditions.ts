/**
 * The conditions of an ImageService, and every reason that one can carry. Ready, Reconciling and Stalled follow from the
 * others, so that they can never contradict them. Ready means: the declared installation is what runs.
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

/**
 * What a reason means for the whole: `good`: as declared. `moving`: on its way there by itself. `stalled`: somebody
 * has to do something; the message says what.
 */
export type Outcome = 'good' | 'moving' | 'stalled';

/** Every reason, what it comes to, and what it means. */
export const reasons = {
  Running: { outcome: 'good', meaning: 'Everything that is declared runs.' },
  AsRendered: { outcome: 'good', meaning: 'Every object is as it was rendered.' },
  ChangedOnWayIn: {
    outcome: 'good',
    meaning:
      'A policy or webhook of the cluster changes objects on their way in; they stay as it makes them.',
  },
  Usable: { outcome: 'good', meaning: 'It answers, and does what is needed of it.' },
  NotChecked: {
    outcome: 'good',
    meaning: 'It cannot be tried from where the operator is; pods say what they lack.',
  },
  NotCheckedYet: {
    outcome: 'moving',
    meaning: 'It is tried once the Secrets and ConfigMaps are as they should be.',
  },
  CorsMissing: {
    outcome: 'good',
    meaning: 'The bucket for uploads takes none from browsers; all else works.',
  },
  Completed: { outcome: 'good', meaning: 'The database is at the version of the image.' },
  Available: { outcome: 'good', meaning: 'All pods of the part run as declared and are ready.' },
  ScaledToZero: { outcome: 'good', meaning: 'The part is declared to have no pods now.' },
  Scheduled: { outcome: 'good', meaning: 'The scheduled jobs are there.' },
  Suspended: { outcome: 'good', meaning: 'The scheduled jobs are suspended, as declared.' },
  Routed: { outcome: 'good', meaning: 'Somebody serves each route of the installation.' },
  NoAddress: {
    outcome: 'good',
    meaning:
      'An Ingress has no address: nobody serves it yet, or its controller never gives one. `Ready` does not wait for it.',
  },
  RoutedByOthers: { outcome: 'good', meaning: 'Somebody else makes the routes, as declared.' },
  Settled: { outcome: 'good', meaning: 'There is nothing to do.' },
  Paused: {
    outcome: 'good',
    meaning: 'Nothing is changed while the annotation tintype.dev/paused is "true".',
  },

  MigrationRunning: {
    outcome: 'moving',
    meaning: 'The migration Job brings the database up to date.',
  },
  WaitingForMigration: {
    outcome: 'moving',
    meaning: 'The part, or its objects, wait for the migration Job.',
  },
  WaitingForWorkers: {
    outcome: 'moving',
    meaning: 'The part gets the new version once the workers and the dispatcher have it.',
  },
  NotAdmitted: {
    outcome: 'moving',
    meaning: 'An HTTPRoute is written, and the Gateway that is declared has not accepted it yet.',
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

  SecretNotFound: {
    outcome: 'stalled',
    meaning: 'A Secret that the resource names does not exist.',
  },
  SecretKeyMissing: { outcome: 'stalled', meaning: 'A Secret lacks a key that is needed.' },
  SecretInvalid: { outcome: 'stalled', meaning: 'A Secret holds a value that cannot be right.' },
  ConfigMapNotFound: {
    outcome: 'stalled',
    meaning: 'A ConfigMap that the resource names does not exist.',
  },
  ConfigMapKeyMissing: { outcome: 'stalled', meaning: 'A ConfigMap lacks a key that is needed.' },
  DatabaseUnavailable: {
    outcome: 'stalled',
    meaning: 'PostgreSQL cannot be used by the address of the Secret.',
  },
  DatabaseMismatch: {
    outcome: 'stalled',
    meaning: 'The resource names another database than the operator works with.',
  },
  DatabaseTaken: {
    outcome: 'stalled',
    meaning: 'Another ImageService works with the database already.',
  },
  NamespaceNotServed: {
    outcome: 'stalled',
    meaning: 'No operator makes ImageServices in this namespace.',
  },
  SpecInvalid: {
    outcome: 'stalled',
    meaning: 'A field says what the API server could not check.',
  },
  BrokerUnusable: {
    outcome: 'stalled',
    meaning: 'RabbitMQ does not answer, or does not do what is needed of it.',
  },
  StorageUnusable: {
    outcome: 'stalled',
    meaning: 'A bucket is not there, or may not be written and read.',
  },
  ObjectTaken: {
    outcome: 'stalled',
    meaning: 'Somebody else made an object of the same name; it is left alone.',
  },
  ObjectUndone: {
    outcome: 'stalled',
    meaning:
      'Somebody changes an object back each time it is written; it is written ever more seldom.',
  },
  ReadRefused: {
    outcome: 'stalled',
    meaning: 'The API server does not let the operator read what it has to look at.',
  },
  ObjectRefused: { outcome: 'stalled', meaning: 'The API server does not take an object.' },
  PlanOnly: {
    outcome: 'moving',
    meaning: 'What would change is planned, and the resource asks that nothing be written.',
  },
  RouteRefused: { outcome: 'stalled', meaning: 'The Gateway refuses a route of the installation.' },
  GatewayAPIMissing: { outcome: 'stalled', meaning: 'The cluster has no HTTPRoutes.' },
  KedaNotInstalled: {
    outcome: 'stalled',
    meaning: 'KEDA is declared as the scaler, and the cluster does not have it.',
  },
  ScalingFailed: {
    outcome: 'stalled',
    meaning: 'KEDA says that it cannot set the number of workers, or nothing for five minutes.',
  },
  MigrationFailed: {
    outcome: 'stalled',
    meaning: 'The migration Job failed; nothing new was started.',
  },
  RolloutFailed: {
    outcome: 'stalled',
    meaning: 'New pods did not become ready in time; the ones before them go on.',
  },
  RolledBack: {
    outcome: 'stalled',
    meaning: 'A new image did not become ready in time; the one before it runs again.',
  },
  PodsRefused: { outcome: 'stalled', meaning: 'Kubernetes does not let the pods in.' },
  PodsFailing: { outcome: 'stalled', meaning: 'Pods cannot start.' },
  Unavailable: {
    outcome: 'stalled',
    meaning: 'No pod of the part has been ready for two minutes.',
  },
  Blocked: { outcome: 'stalled', meaning: 'Something before this has to be mended first.' },
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

/** The same conditions, where one part has come to something else. */
export function withFinding(conditions: readonly Condition[], finding: Finding): Condition[] {
  const parts = conditions.filter(isOfPart).filter(({ type }) => type !== finding.type);
  return conditionsOf([finding, ...parts]);
}

function isOfPart(condition: Condition): condition is Condition & { type: PartType } {
  return !['Ready', 'Reconciling', 'Stalled'].includes(condition.type);
}

/** What nobody can tell. */
const UNTOLD: readonly Reason[] = ['NotCheckedYet', 'NoAddress', 'RoutedByOthers'];

function statusOf(reason: Reason): Status {
  if (UNTOLD.includes(reason)) return 'Unknown';
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
