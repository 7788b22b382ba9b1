// Spec: Verifier failure reasons. Covers every reason, and both secrets during a rotation.
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { eventKinds } from '../../../../runtime/core/events.ts';
import { signWebhook } from '../../../../runtime/core/signing/webhook.ts';
import { verifyWebhook } from '../../../../runtime/sdk/server/sdk.ts';
import type { WebhookData } from '../../../../runtime/sdk/server/webhook-events.ts';

const now = new Date('2026-03-01T12:00:00Z');
const t = now.getTime() / 1000;
const event = {
  id: 'webhook.test:1',
  event: 'webhook.test',
  created_at: now.toISOString(),
  data: { project_id: 'prj_1', test_id: '1' },
};
const body = JSON.stringify(event);
const sign = (over: Partial<Parameters<typeof signWebhook>[0]> = {}) =>
  signWebhook({ secrets: ['whsec_new'], t, body, ...over });
const verify = (over: Partial<Parameters<typeof verifyWebhook>[0]> = {}) =>
  verifyWebhook({ secret: 'whsec_new', signature: sign(), body, now, ...over });

describe('the webhook verifier', () => {
  it('returns the event of a correctly signed body, given as text or bytes', () => {
    expect(verify()).toEqual({ valid: true, event });
    expect(verify({ body: Buffer.from(body) })).toEqual({ valid: true, event });
  });

  it.each([
    ['missing_header', { signature: null }],
    ['malformed_header', { signature: 'v1=00' }],
    ['timestamp_out_of_tolerance', { signature: sign({ t: t - 301 }) }],
    ['timestamp_out_of_tolerance', { signature: sign({ t: t + 301 }) }],
    ['timestamp_out_of_tolerance', { signature: sign({ t: t - 11 }), toleranceSeconds: 10 }],
    ['signature_mismatch', { secret: 'whsec_other' }],
    ['signature_mismatch', { body: JSON.stringify(event, null, 1) }],
    ['invalid_body', { body: '{}', signature: sign({ body: '{}' }) }],
  ])('rejects a webhook with %s', (reason, over) => {
    expect(verify(over)).toEqual({ valid: false, reason });
  });

  it('accepts either secret during a rotation, and still rejects an invalid body', () => {
    const secret = ['whsec_old', 'whsec_new'];
    expect(verify({ secret })).toMatchObject({ valid: true });
    expect(verify({ secret, signature: sign({ secrets: ['whsec_old'] }) }).valid).toBe(true);
    const odd = verify({ secret, body: '[]', signature: sign({ body: '[]' }) });
    expect(odd).toEqual({ valid: false, reason: 'invalid_body' });
  });

  it('accepts bytes of another JavaScript realm, in which some test runners run', () => {
    const bytes = runInNewContext(`new Uint8Array([${[...Buffer.from(body)]}])`);
    expect(bytes).not.toBeInstanceOf(Uint8Array);
    expect(verify({ body: bytes })).toEqual({ valid: true, event });
  });

  it.each([undefined, '', [], ['whsec_new', undefined]])('rejects %j as a secret', (secret) => {
    const help = 'verifyWebhook was given no secret: pass the callback_secret of the project';
    expect(() => verify({ secret: secret as string })).toThrow(new TypeError(help));
    expect(() => verify({ secret: secret as string, signature: null })).toThrow(help);
  });

  it('says that a body was parsed, unless the signature is missing', () => {
    const parsed = { body: event as unknown as string };
    const help = 'body is neither text nor bytes: pass it as received, before it is parsed';
    expect(() => verify(parsed)).toThrow(new TypeError(help));
    expect(verify({ ...parsed, signature: null })).toEqual({
      valid: false,
      reason: 'missing_header',
    });
  });

  it('types the data of every event that the service sends', () => {
    const known: Record<keyof WebhookData, readonly string[]> = {
      'upload.ready': ['file_id', 'file_slug', 'project_id', 'revision', 'sha256', 'upload_id'],
      'file.blocked': ['file_id', 'file_slug', 'project_id', 'reason', 'revision'],
      'file.unblocked': ['file_id', 'file_slug', 'project_id', 'revision'],
      'quota.exceeded': quota,
      'quota.restored': quota,
      'webhook.test': ['project_id', 'test_id'],
    };
    for (const [name, { data }] of Object.entries(eventKinds)) {
      expect(Object.keys(data.shape).sort()).toEqual(known[name as keyof WebhookData]);
    }
  });
});

const quota = ['credit_balance', 'day', 'organization_id', 'project_id', 'quota_exceeded_at'];
