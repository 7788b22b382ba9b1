import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signWebhook, verifyWebhook } from '../../../../runtime/core/signing/webhook.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const secret = 'whsec_test';
const t = 1_800_000_000;
const event = {
  id: 'upload.ready:upl_01',
  event: 'upload.ready',
  created_at: '2026-11-20T00:00:00.000Z',
  data: { upload_id: 'upl_01' },
};
const body = JSON.stringify(event);
const v1 = '942f4d58e2f83132cdf6d6cd6a47ee2a579bf436811e31e850a1d15c75099976';
const v1Old = '3b0e6642ced40cd9e71efe180377793b3d10a0aa4100a3d0e14024e8422e696f';
const header = `t=${t},v1=${v1}`;

function reasonOf(change: Partial<Parameters<typeof verifyWebhook>[0]>): string {
  const verdict = verifyWebhook({ secret, header, body, now_seconds: t, ...change });
  return verdict.valid ? 'valid' : verdict.reason;
}

describe('a signed webhook', () => {
  it('carries t=<unix>,v1=<hex hmac-sha256(callback_secret, t.body)>', () => {
    expect(signWebhook({ secrets: [secret], t, body })).toBe(header);
    expect(signWebhook({ secrets: [secret], t, body: Buffer.from(body) })).toBe(header);
  });
  it('carries one v1 for each secret during a rotation', () => {
    const both = signWebhook({ secrets: [secret, 'whsec_old'], t, body });
    expect(both).toBe(`t=${t},v1=${v1},v1=${v1Old}`);
    expect(reasonOf({ header: both })).toBe('valid');
    expect(reasonOf({ header: both, secret: 'whsec_old' })).toBe('valid');
  });
  it('cannot be signed without a secret', () => {
    expect(() => signWebhook({ secrets: [], t, body })).toThrow(TypeError);
    expect(() => signWebhook({ secrets: [''], t, body })).toThrow(TypeError);
  });
  it('verifies and yields its event', () => {
    expect(verifyWebhook({ secret, header, body, now_seconds: t })).toEqual({ valid: true, event });
  });
});

describe('verifyWebhook', () => {
  it('reports missing_header without a signature header', () => {
    for (const missing of [undefined, null, '']) {
      expect(reasonOf({ header: missing })).toBe('missing_header');
    }
  });
  it('reports malformed_header if the header is not of the form t=<unix>,v1=<hex>', () => {
    const malformed = [
      v1,
      `t=${t}`,
      `v1=${v1}`,
      `t=,v1=${v1}`,
      `t=abc,v1=${v1}`,
      `t=-1,v1=${v1}`,
      `t=1.5,v1=${v1}`,
      `t=${t},t=${t},v1=${v1}`,
      `t=${t},v1=`,
      `t=${t},v1=xyz`,
      `t=${t};v1=${v1}`,
      `t=${t}, v1=${v1}`,
      `t=${t},v1=${v1},`,
      `t=${t},v2=${v1}`,
      `t:${t},v1:${v1}`,
    ];
    for (const text of malformed) expect(reasonOf({ header: text }), text).toBe('malformed_header');
  });
  it('reports timestamp_out_of_tolerance beyond 300 seconds in either direction', () => {
    expect(reasonOf({ now_seconds: t + 300 })).toBe('valid');
    expect(reasonOf({ now_seconds: t - 300 })).toBe('valid');
    expect(reasonOf({ now_seconds: t + 301 })).toBe('timestamp_out_of_tolerance');
    expect(reasonOf({ now_seconds: t - 301 })).toBe('timestamp_out_of_tolerance');
    expect(reasonOf({ now_seconds: t + 11, tolerance_seconds: 10 })).toBe(
      'timestamp_out_of_tolerance',
    );
  });
  it('reports signature_mismatch for a wrong secret, a changed body or a changed time', () => {
    expect(reasonOf({ secret: 'whsec_other' })).toBe('signature_mismatch');
    expect(reasonOf({ body: `${body} ` })).toBe('signature_mismatch');
    expect(reasonOf({ header: `t=${t + 1},v1=${v1}` })).toBe('signature_mismatch');
    expect(reasonOf({ header: `t=0${t},v1=${v1}` })).toBe('signature_mismatch');
    expect(reasonOf({ header: `t=${t},v1=abcd` })).toBe('signature_mismatch');
  });
  it('reports signature_mismatch for the same event serialized again', () => {
    expect(reasonOf({ body: JSON.stringify(event, null, 2) })).toBe('signature_mismatch');
  });
  it('reports invalid_body if the signed body is not { id, event, created_at, data } JSON', () => {
    const bodies = [
      '',
      'not json',
      'null',
      '[]',
      '"text"',
      ...Object.keys(event).map((name) => JSON.stringify({ ...event, [name]: undefined })),
      JSON.stringify({ ...event, id: 1 }),
      JSON.stringify({ ...event, created_at: 'soon' }),
      JSON.stringify({ ...event, data: [] }),
      JSON.stringify({ ...event, data: null }),
    ];
    for (const text of bodies) {
      const signed = signWebhook({ secrets: [secret], t, body: text });
      expect(reasonOf({ header: signed, body: text }), text).toBe('invalid_body');
    }
  });
});

describe('a changed or random webhook', () => {
  it('never verifies after a change of its body or header', () => {
    fc.assert(fc.property(mutationsOf(body), (other) => reasonOf({ body: other }) !== 'valid'));
    const isOriginal = (text: string) => text === header || text.startsWith(`${header},`);
    const headers = mutationsOf(header).filter((text) => !isOriginal(text));
    fc.assert(fc.property(headers, (other) => reasonOf({ header: other }) !== 'valid'));
  });
  it('never verifies, and never makes verifyWebhook throw', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (text, bytes) => {
        expect(reasonOf({ header: text, body: bytes })).not.toBe('valid');
      }),
    );
  });
});
