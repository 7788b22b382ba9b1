import { describe, expect, it } from 'vitest';
import {
  providerAEventBody,
  providerBEventBody,
} from '../../../../runtime/core/resources/inbound.ts';

describe("the time of a provider's event", () => {
  const eventB = (created_at: unknown) =>
    providerBEventBody.safeParse({ id: 'e', eventType: 'x', created_at, object: {} }).success;
  const eventA = (created: unknown) =>
    providerAEventBody.safeParse({ id: 'e', type: 'x', created, data: { object: {} } }).success;
  const last = Date.parse('9998-12-31T23:59:59.999Z');

  it('must be a whole, non-negative number that the database can store as a time', () => {
    for (const ms of [0, 1_795_000_000_000, last]) expect(eventB(ms)).toBe(true);
    for (const ms of [-1, 0.5, last + 1, Number.MAX_SAFE_INTEGER, '1'])
      expect(eventB(ms)).toBe(false);
    for (const seconds of [0, 1_795_000_000, (last - 999) / 1000])
      expect(eventA(seconds)).toBe(true);
    for (const seconds of [-1, 0.5, (last + 1) / 1000, last]) expect(eventA(seconds)).toBe(false);
  });
});
