import { expect, it } from 'vitest';
import { conditionsOf } from '../../../operator/image-service/conditions.ts';
import { withPlan } from '../../../operator/installation/plan.ts';

it('a plan that cannot be determined is Unknown, not a plan without changes', () => {
  const message = 'PostgreSQL does not answer.';
  const conditions = conditionsOf([
    { type: 'MigrationComplete', reason: 'DatabaseUnavailable', message },
  ]);
  const reported = withPlan(conditions, undefined);
  expect(reported.slice(0, -1)).toEqual(conditions);
  expect(reported.at(-1)).toEqual({
    ...{ type: 'Planned', status: 'Unknown', reason: 'Blocked' },
    message: `What would change is not known until this is fixed: ${message}`,
  });
});

it('a plan that is too long for a condition is cut at the end of a line and counts the rest', () => {
  const planned = Array.from({ length: 700 }, (_, number) => ({
    ...{ change: 'create', kind: 'ConfigMap' },
    name: `${String(number).padStart(3, '0')}-${'x'.repeat(50)}`,
  })) satisfies Parameters<typeof withPlan>[1];
  const lines = withPlan([], planned).at(-1)?.message.split('\n') ?? [];
  expect(lines.join('\n').length).toBeLessThanOrEqual(32_768);
  expect(lines.at(-1)).toBe(`… and ${700 - (lines.length - 1)} more`);
  const expected = planned.slice(0, lines.length - 1).map(({ name }) => `+ ConfigMap ${name}`);
  expect(lines.slice(0, -1)).toEqual(expected);
});
