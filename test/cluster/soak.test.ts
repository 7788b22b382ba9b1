import { expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { permitOperator } from '../support/operator-process.ts';
import { soakOperator } from '../support/operator-soak.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();

/** `make soak` runs for an hour; here the faults are closer together. */
const MINUTES = Number(process.env['TINTYPE_SOAK_OPERATOR_MINUTES'] ?? 1);
const FAULTS_LEAST = 9;
/** Growth of the live heap by less than this is not a leak. */
const GROWTH_MB_MAX = 5;

it(
  'an operator keeps up with churn and faults, and its heap does not grow',
  async () => {
    const namespace = await cluster.namespace();
    const { tenant, own, delivery } = permissions;
    await permitOperator(cluster.plane(), namespace, [...tenant, ...own, ...delivery]);
    const duration_ms = MINUTES * 60_000;
    const report = await soakOperator({
      ...{ plane: cluster.plane(), db, database_url: url(), namespace, duration_ms },
      fault_ms: Math.min(30_000, duration_ms / (FAULTS_LEAST + 1)),
      ...(MINUTES > 1 && { say: (line: string) => console.info(line) }),
    });
    expect(report.changes).toBeGreaterThan(10);
    expect(report.faults).toBeGreaterThan(3);
    expect(report.rows).toEqual(report.declared);
    const [, second = 0, , last = Infinity] = report.heaps_mb;
    expect(last - second, JSON.stringify(report)).toBeLessThan(GROWTH_MB_MAX);
  },
  MINUTES * 60_000 + 240_000,
);
