import { expect, it } from 'vitest';
import { conditionsOf } from '../../../operator/image-service/conditions.ts';
import { withPlan } from '../../../operator/installation/plan.ts';

it('a plan that cannot be told is not taken for one without changes', () => {
  const message = 'PostgreSQL does not answer.';
  const conditions = conditionsOf([
    { type: 'MigrationComplete', reason: 'DatabaseUnreachable', message },
  ]);
  const told = withPlan(conditions, undefined);
  expect(told.slice(0, -1)).toEqual(conditions);
  expect(told.at(-1)).toEqual({
    ...{ type: 'Planned', status: 'Unknown', reason: 'Blocked' },
    message: `What would change cannot be told until this is mended: ${message}`,
  });
});
