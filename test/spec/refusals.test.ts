// Spec: Delivery refusals in checking order.
import { describe, expect, it } from 'vitest';
import { refusals } from '../../runtime/core/delivery/refusals.ts';
import { deliveryErrors } from '../../runtime/core/errors.ts';
import specification from './refusals.json' with { type: 'json' };

describe('the delivery refusals', () => {
  it('are the rows of the specification, in its checking order', () => {
    const rows = specification.rows.map(({ status, codes }) => ({ status, codes }));
    expect(refusals.map(({ status, codes }) => ({ status, codes }))).toEqual(rows);
  });

  it('have the status that the table of codes has', () => {
    for (const { status, codes } of refusals) {
      expect(codes.map((code) => deliveryErrors[code].status)).toEqual(codes.map(() => status));
    }
  });
});
