import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseRetryAfter,
  printDeliveryId,
  printWebhookBody,
  retryDelaySeconds,
  type WebhookEvent,
  webhookHeaders,
} from '../../../runtime/core/events.ts';
import {
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_BACKOFF_FIRST_SECONDS,
  WEBHOOK_BACKOFF_SECONDS_MAX,
  WEBHOOK_RETRY_DELAYS_SECONDS,
} from '../../../runtime/core/limits.ts';

const file = { project_id: 'prj_1', file_id: 'file_1', file_slug: 'a'.repeat(128), revision: 3 };
const quota = {
  organization_id: 'org_1',
  project_id: 'prj_1',
  day: '2026-11-20',
  credit_balance: 0,
};
const created_at = new Date('2026-11-20T08:00:00Z');

function blocked(reason: string): WebhookEvent {
  return {
    id: 'file.blocked:file_1',
    event: 'file.blocked',
    created_at,
    data: { ...file, reason },
  };
}

describe('printWebhookBody', () => {
  it('prints id, event, created_at and data, in this order', () => {
    const event = {
      id: 'file.unblocked:file_1',
      event: 'file.unblocked',
      created_at,
      data: file,
    } as const;
    expect(printWebhookBody(event)).toBe(
      JSON.stringify({ ...event, created_at: '2026-11-20T08:00:00.000Z' }),
    );
  });

  it('keeps the body within 2000 bytes, whatever the reason', () => {
    const unit = fc.constantFrom('a', '"', '\\', '😀', 'é', '\0', '\ud800', '\u202e', ' ', '€');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 1200 }), (reason) => {
        const body = printWebhookBody(blocked(reason));
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(2000);
        const { reason: kept } = JSON.parse(body).data;
        expect([...kept].length).toBeLessThanOrEqual(500);
        expect(kept.isWellFormed()).toBe(true);
      }),
    );
  });

  it('cuts a reason no more than necessary', () => {
    expect(JSON.parse(printWebhookBody(blocked('a'.repeat(600)))).data.reason).toBe(
      'a'.repeat(500),
    );
    expect(Buffer.byteLength(printWebhookBody(blocked('😀'.repeat(600))))).toBeGreaterThan(1990);
  });

  it('rejects data that does not match the event', () => {
    const data = { ...quota, quota_exceeded_at: null };
    const wrong = { id: 'x', event: 'quota.exceeded', created_at, data } as unknown as WebhookEvent;
    expect(() => printWebhookBody(wrong)).toThrow();
    expect(() =>
      printWebhookBody({ ...wrong, event: 'quota.restored' } as WebhookEvent),
    ).not.toThrow();
  });
});

describe('printDeliveryId', () => {
  it('names the event and its subject', () => {
    const ready = {
      upload_id: 'upl_1',
      project_id: 'prj_1',
      file_id: 'file_1',
      file_slug: 'a',
      sha256: '',
      revision: 1,
    };
    expect(printDeliveryId('upload.ready', ready)).toBe('upload.ready:upl_1');
    expect(printDeliveryId('file.unblocked', file)).toBe('file.unblocked:file_1');
    expect(printDeliveryId('quota.restored', { ...quota, quota_exceeded_at: null })).toBe(
      'quota.restored:org_1:prj_1:2026-11-20',
    );
  });

  it('adds a number for a repeated event', () => {
    const data = { ...file, reason: 'x' };
    expect(printDeliveryId('file.blocked', data, 1)).toBe('file.blocked:file_1');
    expect(printDeliveryId('file.blocked', data, 2)).toBe('file.blocked:file_1:2');
  });
});

describe('webhookHeaders', () => {
  it('returns the headers of the specification in its order', () => {
    const headers = webhookHeaders({
      event: 'upload.ready',
      id: 'upload.ready:upl_1',
      signature: 't=1,v1=0',
    });
    expect(Object.entries(headers)).toEqual([
      ['Content-Type', 'application/json'],
      ['User-Agent', 'service-webhooks/2'],
      ['X-Service-Event', 'upload.ready'],
      ['X-Service-Delivery', 'upload.ready:upl_1'],
      ['X-Service-Signature', 't=1,v1=0'],
    ]);
  });
});

describe('parseRetryAfter', () => {
  it('reads seconds or a date as whole seconds, rounded up, and anything else as 0', () => {
    const now = new Date('2026-11-20T08:00:00.400Z');
    expect(parseRetryAfter('7', now)).toBe(7);
    expect(parseRetryAfter('Fri, 20 Nov 2026 08:00:10 GMT', now)).toBe(10);
    expect(parseRetryAfter('Fri, 20 Nov 2026 07:00:00 GMT', now)).toBe(0);
    expect(parseRetryAfter('soon', now)).toBe(0);
    expect(parseRetryAfter(undefined, now)).toBe(0);
  });
});

describe('retryDelaySeconds', () => {
  it('doubles from 30 seconds to an hour, and ends after the tenth attempt', () => {
    WEBHOOK_RETRY_DELAYS_SECONDS.forEach((delay, at) => {
      const doubled = WEBHOOK_BACKOFF_FIRST_SECONDS * 2 ** at;
      expect(delay).toBe(Math.min(doubled, WEBHOOK_BACKOFF_SECONDS_MAX));
      expect(retryDelaySeconds(at + 1)).toBe(delay);
    });
    expect(retryDelaySeconds(WEBHOOK_ATTEMPTS_MAX)).toBeNull();
    expect(retryDelaySeconds(WEBHOOK_ATTEMPTS_MAX + 1)).toBeNull();
  });

  it('spreads all attempts over about three hours', () => {
    const sum = WEBHOOK_RETRY_DELAYS_SECONDS.reduce((total: number, delay) => total + delay, 0);
    expect(sum / 3600).toBeCloseTo(3.06, 2);
  });

  it('lets Retry-After delay a retry up to an hour, but never bring it forward', () => {
    expect(retryDelaySeconds(1, 90)).toBe(90);
    expect(retryDelaySeconds(5, 90)).toBe(480);
    expect(retryDelaySeconds(1, 86_400)).toBe(3600);
    expect(retryDelaySeconds(10, 90)).toBeNull();
  });
});
