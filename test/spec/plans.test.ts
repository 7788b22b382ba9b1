// Spec: Limits, Metering (plan credit and storage allowances: not shown). Our own values, with reasons.
import { describe, expect, it } from 'vitest';
import { defaultPlans } from '../../runtime/core/plans.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, tableOf } from './differences.ts';
import endpoints from './endpoints.json' with { type: 'json' };

describe('the plans', () => {
  it('have the allowances that the additions give a reason for', () => {
    const expected = tableOf(
      additions.plans,
      (row) => row.plan,
      ({ credits, granted, storage_bytes }) => ({ credits, granted, storage_bytes }),
    );
    expect(differences(expected, defaultPlans)).toEqual(NONE);
  });

  it('are trial and those that an access request can name', () => {
    const request = endpoints.rows.find((row) => row.path === '/v1/public/access-requests');
    const named = request?.plan_interest?.filter((name) => name !== 'unsure');
    expect(Object.keys(defaultPlans).filter((name) => name !== 'trial')).toEqual(named);
  });
});
