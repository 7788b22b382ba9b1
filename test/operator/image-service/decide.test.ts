import { describe, expect, it } from 'vitest';
import {
  type ConditionType,
  conditionTypes,
  type Reason,
  reasons,
} from '../../../operator/image-service/conditions.ts';
import { decide, type Subject } from '../../../operator/image-service/decide.ts';
import { type Component, components } from '../../../operator/image-service/installation.ts';
import type { DeploymentState, Observed } from '../../../operator/image-service/observed.ts';
import {
  REVISION,
  ROLLED_BACK,
  ROLLED_BACK_SPEC,
  ROLLED_BACK_WHY,
} from '../../../operator/image-service/render/deployments.ts';
import { allObjects, renderInstallation } from '../../../operator/image-service/render/render.ts';
import { presentOf } from '../../../operator/image-service/steps.ts';
import { installation, least, routesOf, withAddress } from './samples.ts';

const now = new Date('2026-11-21T12:00:00Z');
const main = installation(least);
const rendered = renderInstallation(main);
const objects = allObjects(rendered);

function revisionOf(component: Component): string | undefined {
  const found = rendered.deployments.find(({ metadata }) => metadata.name === `main-${component}`);
  return found?.metadata.annotations?.[REVISION];
}

function deployment(component: Component, more: Partial<DeploymentState> = {}): DeploymentState {
  return {
    revision: revisionOf(component),
    image: least.image,
    isSeen: true,
    desired: 2,
    updated: 2,
    ready: 2,
    total: 2,
    isLate: false,
    isRolledOut: true,
    ...more,
  };
}

function deployments(
  of: Partial<Record<Component, Partial<DeploymentState>>> = {},
): Record<Component, DeploymentState> {
  const all = components.map((each) => [each, deployment(each, of[each])]);
  return Object.fromEntries(all);
}

const crons = objects
  .filter(({ kind }) => kind === 'CronJob')
  .map(({ metadata: { name } }) => ({ name, isSuspended: false, lastRunFailed: false }));

/** As declared, and healthy. */
const well: Observed = {
  problems: [],
  database: { state: 'reachable' },
  broker: { reason: 'Usable', message: 'The broker answers.' },
  storage: { reason: 'Usable', message: 'Both buckets can be used.' },
  usable_since: new Date('2026-11-21T11:00:00Z'),
  last_image: undefined,
  migration: { state: 'complete' },
  deployments: deployments(),
  scalingProblems: {},
  routes: routesOf(main, withAddress),
  cronJobs: crons,
  present: objects.map(presentOf),
};

function decided(observed: Partial<Observed>, more: Partial<Subject> = {}) {
  const all = { ...well, ...observed };
  return decide({ installation: main, observed: all, now, ...more });
}

type Decided = ReturnType<typeof decide>;

function condition({ conditions }: Decided, type: ConditionType) {
  return conditions.find((each) => each.type === type);
}

const names = ({ steps }: Decided, kind: string) =>
  steps.filter((step) => step.object.kind === kind).map((step) => [step.do, nameOf(step.object)]);

function nameOf(object: { name: string } | { metadata: { name: string } }): string {
  return 'metadata' in object ? object.metadata.name : object.name;
}

const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } } as const;
const atGateway = installation({ ...least, routing: gateway });
const refusing = {
  parents: [
    {
      parentRef: gateway.gatewayRef,
      conditions: [{ type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners' }],
    },
  ],
};
const unknownRevision = { revision: 'another' };
const secret = { reason: 'SecretNotFound', message: "Secret 'db' does not exist." } as const;
const failing = 'CrashLoopBackOff: TINTYPE_DATABASE_URL: expected it to be set';

/**
 * Reasons that only a look at the cluster reveals: see test/cluster/image-service.test.ts,
 * admission.test.ts, reverted-writes.test.ts, missing-rights.test.ts and several-image-services.test.ts.
 */
type OfPass =
  | 'ObjectTaken'
  | 'ObjectRefused'
  | 'ObjectUndone'
  | 'ChangedOnWayIn'
  | 'ReadRefused'
  | 'GatewayAPIMissing'
  | 'SpecInvalid'
  | 'Paused'
  | 'PlanOnly'
  | 'NamespaceNotServed';

/** Each reason: the type of its condition, what leads to it, and a pattern for its message. */
const table: Record<
  Exclude<Reason, OfPass>,
  [ConditionType, Partial<Observed>, RegExp, Partial<Subject>?]
> = {
  Running: ['Ready', {}, /runs/],
  AsRendered: ['Applied', {}, /as it was rendered/],
  Usable: ['BrokerUsable', {}, /answers/],
  NotChecked: [
    'StorageUsable',
    { storage: { reason: 'NotChecked', message: 'no credentials here' } },
    /no credentials/,
  ],
  NotCheckedYet: [
    'BrokerUsable',
    { problems: [secret], broker: { reason: 'NotCheckedYet', message: 'it is tried once' } },
    /tried once/,
  ],
  CorsMissing: [
    'StorageUsable',
    { storage: { reason: 'CorsMissing', message: 'tintype doctor --fix-cors' } },
    /fix-cors/,
  ],
  BrokerUnusable: [
    'Ready',
    { broker: { reason: 'BrokerUnusable', message: 'check the address' } },
    /check the address/,
  ],
  StorageUnusable: [
    'Stalled',
    { storage: { reason: 'StorageUnusable', message: 'no such bucket' } },
    /no such bucket/,
  ],
  Completed: ['MigrationComplete', {}, /main-migrate-0026-/],
  Available: ['ApiAvailable', {}, /main-api: 2 of 2 pods/],
  ScaledToZero: [
    'DispatcherAvailable',
    { deployments: deployments({ dispatcher: { desired: 0, updated: 0, ready: 0, total: 0 } }) },
    /none are asked for/,
  ],
  Scheduled: ['CronJobsScheduled', {}, /jobs exist/],
  Suspended: [
    'CronJobsScheduled',
    { cronJobs: crons.map((each) => ({ ...each, isSuspended: true })) },
    /not charged/,
  ],
  JobFailed: [
    'CronJobsScheduled',
    { cronJobs: crons.map((each) => ({ ...each, lastRunFailed: each.name === 'main-retention' })) },
    /main-retention failed.*kubectl logs/,
  ],
  Routed: ['Routed', {}, /api\.example\.com, \*\.img\.example\.com/],
  NoAddress: [
    'Routed',
    { routes: routesOf(main) },
    /main-api \(api\.example\.com\) has no address/,
  ],
  NotAdmitted: [
    'Routed',
    { routes: routesOf(atGateway) },
    /HTTPRoute main-api .* is there a Gateway 'tintype\/edge'/,
    { installation: atGateway },
  ],
  RouteRefused: [
    'Routed',
    { routes: routesOf(atGateway, refusing) },
    /HTTPRoute main-delivery .* is refused by its Gateway, NotAllowedByListeners\./,
    { installation: atGateway },
  ],
  RoutedByOthers: [
    'Routed',
    { routes: [] },
    /outside the operator/,
    { installation: installation({ ...least, routing: { mode: 'Disabled' } }) },
  ],
  Settled: ['Stalled', {}, /nothing to do/],
  MigrationRunning: [
    'MigrationComplete',
    { migration: { state: 'running' } },
    /main-migrate.*runs/,
  ],
  WaitingForMigration: [
    'ApiAvailable',
    { migration: { state: 'running' }, deployments: {} },
    /main-migrate/,
  ],
  WaitingForWorkers: [
    'ApiAvailable',
    { deployments: deployments({ api: unknownRevision, dispatcher: { ...unknownRevision } }) },
    /stays at the previous version until workers/,
  ],
  RollingOut: [
    'DeliveryAvailable',
    { deployments: deployments({ delivery: { isRolledOut: false, ready: 1, updated: 1 } }) },
    /1 of 2/,
  ],
  NotApplied: ['ApiAvailable', { deployments: {} }, /being written/],
  Progressing: ['Reconciling', { migration: { state: 'running' } }, /main-migrate/],
  SecretNotFound: ['MigrationComplete', { problems: [secret] }, /'db'/],
  SecretKeyMissing: [
    'Ready',
    { problems: [{ reason: 'SecretKeyMissing', message: "Key 'url' is missing." }] },
    /'url'/,
  ],
  SecretInvalid: [
    'Stalled',
    { problems: [{ reason: 'SecretInvalid', message: 'must be a URL' }] },
    /must be a URL/,
  ],
  ConfigMapNotFound: [
    'Stalled',
    { problems: [{ reason: 'ConfigMapNotFound', message: "ConfigMap 'ca' does not exist." }] },
    /'ca'/,
  ],
  ConfigMapKeyMissing: [
    'Ready',
    { problems: [{ reason: 'ConfigMapKeyMissing', message: "Key 'ca.crt' is missing." }] },
    /'ca.crt'/,
  ],
  DatabaseUnavailable: [
    'MigrationComplete',
    { database: { state: 'unreachable', why: 'ECONNREFUSED' } },
    /cannot be used.*'db'.*ECONNREFUSED.*check/,
  ],
  DatabaseMismatch: ['Stalled', { database: { state: 'other' } }, /second operator/],
  DatabaseTaken: [
    'Stalled',
    { database: { state: 'taken', why: "'images/first'" } },
    /'images\/first'.*starts when that one is deleted/,
  ],
  KedaNotInstalled: [
    'WorkersAvailable',
    {},
    /install KEDA, or set 'Auto'/,
    { installation: installation({ ...least, autoscaling: { mode: 'KEDA' } }) },
  ],
  ScalingFailed: [
    'WorkersAvailable',
    { scalingProblems: { 'worker-render': { why: 'Triggers are not working' } } },
    /main-worker-render.*Triggers are not working.*describe scaledobject main-worker-render/,
    { installation: { ...main, keda: 'present' } },
  ],
  MigrationFailed: [
    'MigrationComplete',
    { migration: { state: 'failed', last_line: 'is TINTYPE_DATABASE_URL right?', failed_at: now } },
    /is TINTYPE_DATABASE_URL right\?.*tries again/,
  ],
  RolledBack: [
    'WorkersAvailable',
    {
      last_image: 'registry.example.com/tintype:1.2.2',
      deployments: deployments({
        'worker-ingest': { isRolledOut: false, isLate: true, updated: 1, total: 3 },
      }),
    },
    /not ready within 10 minutes.*tintype:1\.2\.2' runs again/,
  ],
  RolloutFailed: [
    'ApiAvailable',
    { deployments: deployments({ api: { isRolledOut: false, isLate: true, total: 3, failing } }) },
    /not ready within 10 minutes \(CrashLoop.*The 2 ready ones keep running/,
  ],
  PodsRefused: [
    'WorkersAvailable',
    { deployments: deployments({ 'worker-render': { refusal: 'exceeded quota: mem' } }) },
    /exceeded quota/,
  ],
  PodsFailing: [
    'ApiAvailable',
    { deployments: deployments({ api: { isRolledOut: false, updated: 1, total: 3, failing } }) },
    /expected it to be set.*The 2 ready ones keep running/,
  ],
  Unavailable: [
    'ApiAvailable',
    { deployments: deployments({ api: { ready: 0 } }) },
    /0 of 2.*kubectl logs/,
  ],
  Blocked: ['ApiAvailable', { problems: [secret], deployments: {} }, /Waits until.*'db'/],
};

describe('a decision', () => {
  it('reports a migration whose pod is refused as stalled, and looks again in 20 seconds', () => {
    const podless_since = new Date(now.getTime() - 60_000);
    const migration = { state: 'running', podless_since } as const;
    const { conditions, requeue_after_seconds, steps } = decided({ migration, deployments: {} });
    const reasonOf = (type: string) => conditions.find((each) => each.type === type)?.reason;
    expect(['MigrationComplete', 'Stalled', 'ApiAvailable'].map(reasonOf)).toEqual([
      ...['PodsRefused', 'PodsRefused', 'Blocked'],
    ]);
    expect(requeue_after_seconds).toBe(20);
    expect(steps.filter((step) => step.do === 'delete')).toEqual([]);
  });

  it.each(Object.entries(table))(
    'has the reason %s and its message when it applies',
    (reason, row) => {
      const [type, observed, message, more] = row;
      const found = condition(decided(observed, more), type);
      expect(found?.reason).toBe(reason);
      expect(found?.message).toMatch(message);
    },
  );

  it.each(Object.entries(table))(
    'for %s has all condition types and exactly one summary',
    (_reason, row) => {
      const { conditions } = decided(row[1], row[3]);
      expect(conditions.map(({ type }) => type)).toEqual(conditionTypes);
      const is = (type: ConditionType) =>
        conditions.some((each) => each.type === type && each.status === 'True');
      const summary = [is('Ready'), is('Reconciling'), is('Stalled')].filter(Boolean);
      expect(summary.length).toBe(1);
      for (const { message } of conditions) expect(message.trim()).not.toBe('');
    },
  );

  it('explains every reason', () => {
    for (const { meaning } of Object.values(reasons)) expect(meaning).toMatch(/\.$/);
  });

  it('applies everything, deletes nothing and records the image if all is well', () => {
    const decision = decided({});
    expect(decision.steps.every((step) => step.do === 'apply')).toBe(true);
    expect(decision.steps.map(({ object }) => nameOf(object)).length).toBe(objects.length - 1);
    expect(decision.image).toBe(least.image);
    expect(decision.components).toHaveLength(components.length);
  });
});

describe('a running installation whose database cannot be used', () => {
  const leading = ['Service', 'PodDisruptionBudget', 'Ingress'];
  const stepsFor = (state: Observed['database']['state']) =>
    decided({ database: { state }, last_image: least.image }).steps;

  it('keeps what leads to its pods while the database is away', () => {
    const steps = stepsFor('unreachable');
    expect(new Set(steps.map(({ object }) => object.kind))).toEqual(new Set(leading));
    expect(steps.every((step) => step.do === 'apply')).toBe(true);
  });

  it.each(['other', 'taken'] as const)(
    'writes nothing if the database belongs to another installation (%s)',
    (state) => expect(stepsFor(state)).toEqual([]),
  );
});

describe('conditions while something is blocked or outstanding', () => {
  const yet = { reason: 'NotCheckedYet', message: 'it is tried once' } as const;
  const nothing = {
    deployments: {},
    routes: [],
    cronJobs: [],
    present: [],
    migration: { state: 'absent' },
  };
  const late = { storage: { reason: 'StorageUnusable', message: 'no such bucket' } } as const;
  const rows: [string, Partial<Observed>, string, Partial<Observed>?][] = [
    ['a Secret is missing', { problems: [secret], broker: yet, storage: yet }, 'Blocked'],
    ['the database is away', { database: { state: 'unreachable' } }, 'Blocked'],
    ['the database is of another', { database: { state: 'taken' } }, 'Blocked'],
    ['a bucket is missing', late, 'Blocked'],
    ['the migration failed', { migration: { state: 'failed', failed_at: now } }, 'Blocked'],
    ['the migration runs', { migration: { state: 'running' } }, 'WaitingForMigration'],
  ];

  it.each(rows)('are not True if %s and nothing exists yet', (_, observed, reason) => {
    const decision = decided({ ...nothing, ...observed } as Partial<Observed>);
    const good = decision.conditions.filter(({ status }) => status === 'True');
    const usable = ['BrokerUsable', 'StorageUsable', 'Reconciling', 'Stalled'];
    expect(good.filter(({ type }) => !usable.includes(type))).toEqual([]);
    for (const type of ['Applied', 'CronJobsScheduled', 'ApiAvailable', 'Routed'] as const) {
      expect(condition(decision, type)).toMatchObject({ status: 'False', reason });
    }
    expect(condition(decision, 'Ready')?.reason).not.toBe('WaitingForMigration');
  });

  it('are Unknown for a check that is still to come', () => {
    const decision = decided({ problems: [secret], broker: yet, storage: yet });
    for (const type of ['BrokerUsable', 'StorageUsable'] as const) {
      expect(condition(decision, type)).toMatchObject({ status: 'Unknown', ...yet });
    }
    expect(condition(decision, 'Stalled')).toMatchObject({ reason: 'SecretNotFound' });
  });

  it('give the first of several problems, while Ready lists them all', () => {
    const another = { reason: 'SecretNotFound', message: "Secret 'mq' does not exist." } as const;
    const decision = decided({ problems: [secret, another] });
    expect(condition(decision, 'Ready')?.message).toBe(`${secret.message} ${another.message}`);
    const message = `Waits until this is fixed: ${secret.message} \`Ready\` lists the rest.`;
    expect(condition(decision, 'Applied')).toMatchObject({ reason: 'Blocked', message });
  });

  it('stay True for the CronJobs and routes that already exist', () => {
    const decision = decided({ problems: [secret] });
    expect(condition(decision, 'Applied')).toMatchObject({ status: 'False', reason: 'Blocked' });
    expect(condition(decision, 'CronJobsScheduled')).toMatchObject({ status: 'True' });
    expect(condition(decision, 'Routed')).toMatchObject({ status: 'True' });
  });
});

describe('the rollout of a version', () => {
  it('starts with the migration only', () => {
    const first = decided({ migration: { state: 'absent' }, deployments: {}, present: [] });
    expect(names(first, 'Job')).toEqual([['create', rendered.migration.metadata.name]]);
    expect(names(first, 'Deployment')).toEqual([]);
    const then = decided({ migration: { state: 'running' }, deployments: {}, present: [] });
    expect(names(then, 'Job')).toEqual([]);
    expect(names(then, 'Deployment')).toEqual([]);
  });

  it('applies all components together if none exists', () => {
    const all = names(decided({ deployments: {}, present: [] }), 'Deployment');
    expect(all).toEqual(components.map((each) => ['apply', `main-${each}`]));
  });

  it('updates workers and dispatcher before API, delivery and CronJobs', () => {
    const older = deployments(
      Object.fromEntries(components.map((each) => [each, unknownRevision])),
    );
    const first = decided({ deployments: older });
    expect(names(first, 'Deployment').map(([, name]) => name)).toEqual([
      'main-worker-ingest',
      'main-worker-render',
      'main-dispatcher',
    ]);
    expect(names(first, 'CronJob')).toEqual([]);
    const then = decided({
      deployments: deployments({ api: unknownRevision, delivery: unknownRevision }),
    });
    expect(names(then, 'Deployment')).toHaveLength(5);
    expect(names(then, 'CronJob')).toHaveLength(crons.length);
  });

  it('stops at a version that does not start, and keeps the API at the previous version', () => {
    const stuck = { isRolledOut: false, isLate: true, updated: 1, total: 3, failing };
    const decision = decided({
      deployments: deployments({
        'worker-render': stuck,
        api: unknownRevision,
        delivery: unknownRevision,
      }),
    });
    expect(names(decision, 'Deployment').map(([, name]) => name)).not.toContain('main-api');
    expect(condition(decision, 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'RolloutFailed',
    });
    expect(condition(decision, 'ApiAvailable')?.message).toMatch(/stays at the previous version/);
    expect(decision.image).toBeUndefined();
  });

  it('changes nothing while a Secret is missing, and reports the running API as available', () => {
    const decision = decided({ problems: [secret] });
    expect(decision.steps).toEqual([]);
    expect(condition(decision, 'ApiAvailable')?.status).toBe('True');
    expect(condition(decision, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'SecretNotFound',
    });
    expect(decision.requeue_after_seconds).toBeGreaterThan(0);
  });

  it('reports workers as available while their number changes, whatever else goes on', () => {
    const growing = deployments({
      'worker-ingest': { desired: 3, updated: 3, total: 3, ready: 1 },
    });
    for (const more of [{}, { problems: [secret] }, { migration: { state: 'running' } as const }]) {
      const decision = decided({ deployments: growing, ...more });
      expect(condition(decision, 'WorkersAvailable')?.status).toBe('True');
    }
  });
});

describe('a new image that does not become ready in time', () => {
  const last_image = 'registry.example.com/tintype:1.2.2';
  const late = { isRolledOut: false, isLate: true, updated: 1, total: 3, failing };
  const decision = decided({ last_image, deployments: deployments({ 'worker-ingest': late }) });
  const applied = decision.steps.flatMap((step) => (step.do === 'apply' ? [step.object] : []));
  const worker = applied.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'main-worker-ingest',
  );

  it('is rolled back: every component and CronJob gets the previous image', () => {
    const workloads = applied.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob');
    expect(workloads.length).toBeGreaterThan(components.length);
    for (const each of workloads) expect(JSON.stringify(each)).toContain(`"image":"${last_image}"`);
    expect(JSON.stringify(workloads)).not.toContain(least.image);
  });

  it('is not tried again by itself, even when the old pods are ready again', () => {
    const annotations = worker?.metadata.annotations ?? {};
    const rolled_back = {
      revision: annotations[ROLLED_BACK] ?? '',
      why: annotations[ROLLED_BACK_WHY] ?? '',
      spec: annotations[ROLLED_BACK_SPEC] ?? '',
    };
    expect(rolled_back.revision).toBe(revisionOf('worker-ingest'));
    const back = { revision: annotations[REVISION], rolled_back };
    const again = decided({ last_image, deployments: deployments({ 'worker-ingest': back }) });
    expect(again.steps.filter((step) => step.do === 'apply').map(({ object }) => object)).toEqual(
      applied,
    );
    expect(condition(again, 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
  });

  it('is tried again if anything else in the spec changes', () => {
    const rolled_back = { revision: revisionOf('api') ?? '', why: 'it did not start' };
    const of = (spec: string) => reason(undefined, { rolled_back: { ...rolled_back, spec } });
    expect(of(worker?.metadata.annotations?.[ROLLED_BACK_SPEC] ?? '')).toBe('RolledBack');
    expect(of('of another spec')).toBe('Running');
  });

  it('does not keep another image from being tried', () => {
    const rolled_back = { revision: 'of another image', why: 'it did not start' };
    const state = deployments({ 'worker-ingest': { rolled_back } });
    const next = decided({ last_image, deployments: state });
    expect(condition(next, 'WorkersAvailable')?.reason).toBe('Available');
  });

  const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  const reason = (usable_since: Date | undefined, state: Partial<DeploymentState> = late) => {
    const observed = { last_image, usable_since, deployments: deployments({ api: state }) };
    return condition(decided(observed), 'Ready')?.reason;
  };

  it.each([
    ['ended just now', undefined, 'RolloutFailed'],
    ['ended less than ten minutes ago', minutesAgo(9.9), 'RolloutFailed'],
    ['ended ten minutes ago', minutesAgo(10), 'RolledBack'],
  ])(
    'is rolled back only ten minutes after an outage of its dependencies: one that %s',
    (_, usable_since, wanted) => {
      expect(reason(usable_since)).toBe(wanted);
    },
  );

  it('stays rolled back after an outage', () => {
    const rolled_back = { revision: revisionOf('api') ?? '', why: 'it did not start' };
    expect(reason(undefined, { rolled_back })).toBe('RolledBack');
  });

  it('is not rolled back if no previous image is known', () => {
    const first = decided({ deployments: deployments({ 'worker-ingest': late }) });
    expect(condition(first, 'Ready')?.reason).toBe('RolloutFailed');
  });
});

describe('while the migration of a new image runs', () => {
  const last_image = 'registry.example.com/tintype:1.2.2';
  const migration = { state: 'running' } as const;

  it('Services, budgets and Ingresses are still applied, Deployments and CronJobs are not', () => {
    const decision = decided({ migration, last_image });
    for (const kind of ['Service', 'PodDisruptionBudget', 'Ingress']) {
      expect(names(decision, kind), kind).not.toEqual([]);
    }
    expect(names(decision, 'Deployment')).toEqual([]);
    expect(names(decision, 'CronJob')).toEqual([]);
  });

  it('a deleted Deployment is restored with the previous image', () => {
    const { api: _, ...others } = deployments({});
    const { steps } = decided({ migration, last_image, deployments: others });
    const made = steps.flatMap((step) => (step.do === 'apply' ? [step.object] : []));
    const found = made.filter(({ kind }) => kind === 'Deployment');
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['main-api']);
    expect(JSON.stringify(found)).toContain(`"image":"${last_image}"`);
  });
});

describe('a migration that failed', () => {
  const failed_at = new Date(now.getTime() - 299_000);

  it('rests for five minutes, and then its Job is deleted to be created again', () => {
    const resting = decided({ migration: { state: 'failed', failed_at } });
    expect(names(resting, 'Job')).toEqual([]);
    expect(resting.requeue_after_seconds).toBe(300);
    const later = { now: new Date(now.getTime() + 1000) };
    const again = decided({ migration: { state: 'failed', failed_at } }, later);
    expect(names(again, 'Job')).toEqual([['delete', rendered.migration.metadata.name]]);
  });

  it('gets another Job if the image, a Secret, the database or the schema version changes', () => {
    const jobs = [
      main,
      installation({ ...least, image: 'tintype:2' }),
      installation(least, { secrets_digest: 'f' }),
      installation(least, { database_id: '1/3' }),
      installation(least, { schema_version: '0027' }),
    ].map((each) => renderInstallation(each).migration.metadata.name);
    expect(new Set(jobs).size).toBe(jobs.length);
  });
});

describe('objects that an installation no longer has', () => {
  const old = [
    { apiVersion: 'batch/v1', kind: 'Job', name: 'main-migrate-0020-old' },
    { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main-old' },
  ];
  const present = [...well.present, ...old];

  it('are deleted once the database is migrated', () => {
    const decision = decided({ present });
    const gone = decision.steps.filter((step) => step.do === 'delete').map(({ object }) => object);
    expect(gone).toEqual(old);
  });

  it('are deleted after the HTTPRoute that replaces them, if there is one', () => {
    const removals = (routing: object) => {
      const subject = installation({ ...least, routing } as typeof least);
      return decided({}, { installation: subject }).steps.filter((step) => step.do === 'delete');
    };
    const successor = (name: string) => ({ kind: 'HTTPRoute', metadata: { name } });
    expect(removals(gateway)).toMatchObject([
      { object: { kind: 'Ingress', name: 'main-api' }, after: successor('main-api') },
      { object: { kind: 'Ingress', name: 'main-delivery' }, after: successor('main-delivery') },
    ]);
    for (const step of removals({ mode: 'Disabled' })) expect(step).not.toHaveProperty('after');
  });

  it('are kept while the migration runs', () => {
    const decision = decided({ present, migration: { state: 'running' } });
    expect(decision.steps.filter((step) => step.do === 'delete')).toEqual([]);
  });
});

it('an image counts as running once all components run it, whatever else keeps Ready from being True', () => {
  const broken = decided({ cronJobs: [], storage: { reason: 'CorsMissing', message: 'no' } });
  expect(condition(broken, 'Ready')?.status).toBe('False');
  expect(broken.image).toBe(least.image);
  expect(decided({ deployments: deployments({ api: unknownRevision }) }).image).toBeUndefined();
});

it('scaling counts as failed once KEDA has been silent about a pool for five minutes', () => {
  const reasonAfter = (seconds: number) => {
    const silent_since = new Date(now.getTime() - seconds * 1000);
    const of = decided(
      { scalingProblems: { 'worker-render': { silent_since } } },
      { installation: { ...main, keda: 'present' } },
    );
    return condition(of, 'WorkersAvailable')?.reason;
  };
  expect(reasonAfter(299)).not.toBe('ScalingFailed');
  expect(reasonAfter(300)).toBe('ScalingFailed');
});
