// Spec: Resources and their fields.
import { expect, it } from 'vitest';
import { pausedStatusOf, statusOf } from '../../../operator/cluster/status.ts';
import type { TenantObject, TenantStatus } from '../../../operator/cluster/tenant-object.ts';
import { writeStatus } from '../../../operator/cluster/write-status.ts';
import { conditionsFor, type Reason } from '../../../operator/conditions.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';

type ReportedEvent = { type: string; reason: string };

const bare: TenantObject = {
  metadata: { name: 'shop', namespace: 'team', uid: 'u', resourceVersion: '1', generation: 1 },
};

/** The Events and the number of refusals that are reported when `status` follows `before`. */
async function tellAfter(before: TenantStatus | undefined, status: TenantStatus) {
  const events: ReportedEvent[] = [];
  const metrics = createKubeMetrics();
  const clock = createManualTimedClock();
  const object = before === undefined ? bare : { ...bare, status: before };
  const client = { applyStatus: async () => ({ ok: true, value: object }) };
  await writeStatus(
    'Project',
    { object, status },
    {
      ...{ clock, metrics, client: client as never },
      events: { record: (_regarding, { type, reason }) => void events.push({ type, reason }) },
    },
  );
  const refused = /^controller_runtime_terminal_reconcile_errors_total\{.*"Project".*\} (\d+)$/m;
  return { events, refused: Number(refused.exec(await metrics.print())?.[1] ?? 0) };
}

const now = new Date('2026-01-01T00:00:00Z');
const as = (reason: Reason) =>
  statusOf(bare, { conditions: conditionsFor(reason, ''), facts: {} }, now);
const paused = pausedStatusOf(
  bare,
  ['Ready', 'Paused'].map((type) => ({
    ...{ type: type as 'Ready' | 'Paused', reason: 'Paused', message: '' },
    status: type === 'Ready' ? 'Unknown' : 'True',
  })),
  now,
);

/**
 * The Accepted condition keeps its value, because nothing is validated during a database outage.
 */
const refusedAndAway = {
  ...as('DatabaseUnavailable'),
  conditions: [
    ...(as('DatabaseUnavailable').conditions ?? []).filter(({ type }) => type !== 'Accepted'),
    ...(as('SlugInvalid').conditions ?? []).filter(({ type }) => type === 'Accepted'),
  ],
};

it.each([
  ['ready at once', undefined, as('InSync'), [], 0],
  ['ready at last', as('FileNotFound'), as('InSync'), [{ type: 'Normal', reason: 'InSync' }], 0],
  ['waiting', undefined, as('FileNotFound'), [{ type: 'Normal', reason: 'FileNotFound' }], 0],
  ['held', as('InSync'), as('FileBlocked'), [{ type: 'Warning', reason: 'FileBlocked' }], 0],
  ['refused', undefined, as('SlugInvalid'), [{ type: 'Warning', reason: 'SlugInvalid' }], 1],
  ['refused as before', as('SlugInvalid'), as('SlugInvalid'), [], 0],
  [
    'refused as before an outage',
    refusedAndAway,
    as('SlugInvalid'),
    [{ type: 'Warning', reason: 'SlugInvalid' }],
    0,
  ],
  ['paused from the first', undefined, paused, [{ type: 'Normal', reason: 'Paused' }], 0],
] as const)(
  'a resource that is %s gets the matching event and error count',
  async (_what, before, status, events, refused) => {
    expect(await tellAfter(before, status)).toEqual({ events, refused });
  },
);
