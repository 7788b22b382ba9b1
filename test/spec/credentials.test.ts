// Spec: Credentials. What each signature covers: computed here from the specification's text, and compared with the
// code that signs.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isApiKey, newApiKey } from '../../runtime/core/signing/api-key.ts';
import { signEmbedUrl } from '../../runtime/core/signing/embed-url.ts';
import {
  isLibrarySession,
  signLibrarySession,
} from '../../runtime/core/signing/library-session.ts';
import { signProviderA, verifyProviderA } from '../../runtime/core/signing/provider-a.ts';
import { signProviderB } from '../../runtime/core/signing/provider-b.ts';
import { signRequest } from '../../runtime/core/signing/request-signature.ts';
import { signStorageEvent } from '../../runtime/core/signing/storage-event.ts';
import { signWebhook, verifyWebhook } from '../../runtime/core/signing/webhook.ts';
import specification from './credentials.json' with { type: 'json' };
import errors from './errors.json' with { type: 'json' };

const SECRET = 'a secret';
const body = Buffer.from('{"events":[]}');

type Scheme = {
  scheme: string;
  signed?: string[];
  encoding?: string;
  format?: string;
  tolerance_seconds?: number;
};
const schemes = new Map<string, Scheme>(specification.schemes.rows.map((row) => [row.scheme, row]));

/** The signature that the specification's row describes, with these values for its terms. */
function expected(scheme: string, values: Readonly<Record<string, string>>): string {
  const { signed = [], encoding = 'hex', format = '<hex>' } = schemes.get(scheme) ?? {};
  const mac = createHmac('sha256', SECRET);
  for (const part of signed) mac.update(values[part] ?? part);
  const text = mac.digest(encoding === 'base64url' ? 'base64url' : 'hex');
  return format.replace('<hex>', text);
}

describe('the credentials', () => {
  it('RequestSignature signs method, pathname and raw body', () => {
    const values = { METHOD: 'POST', pathname: '/v1/projects', 'raw body': body.toString() };
    const signature = signRequest(SECRET, { method: 'POST', pathname: '/v1/projects', body });
    expect(signature).toBe(expected('RequestSignature', values));
  });

  it('RequestSignature signs an empty body as the empty string', () => {
    const values = { METHOD: 'DELETE', pathname: '/v1/projects/a', 'raw body': '' };
    const request = { method: 'DELETE', pathname: '/v1/projects/a', body: Buffer.alloc(0) };
    expect(signRequest(SECRET, request)).toBe(expected('RequestSignature', values));
  });

  it('StorageEventSignature and PaymentProviderBSignature sign the raw body', () => {
    const values = { 'raw body': body.toString() };
    expect(signStorageEvent(SECRET, body)).toBe(expected('StorageEventSignature', values));
    expect(signProviderB(SECRET, body)).toBe(expected('PaymentProviderBSignature', values));
  });

  it('PaymentProviderASignature has the specified form, and its tolerance in both directions', () => {
    const { tolerance_seconds = 0 } = schemes.get('PaymentProviderASignature') ?? {};
    const t = 1_795_000_000;
    const header = signProviderA(SECRET, t, body);
    expect(header).toMatch(/^t=1795000000,v1=[0-9a-f]{64}$/);
    const at = (now_seconds: number) =>
      verifyProviderA({ secret: SECRET, header, body, now_seconds });
    expect([at(t - tolerance_seconds), at(t + tolerance_seconds)]).toEqual([true, true]);
    expect([at(t - tolerance_seconds - 1), at(t + tolerance_seconds + 1)]).toEqual([false, false]);
  });

  it('EmbedUrlSignature signs prefix, project, library, origin and exp', () => {
    const o = 'https://shop.example';
    const embed = { key: Buffer.from(SECRET), project: 'shop', library: 'default', o, exp: 42 };
    const values = { '<project>': 'shop', '<library>': 'default', '<o>': o, '<exp>': '42' };
    expect(signEmbedUrl(embed)).toBe(expected('EmbedUrlSignature', values));
  });

  it('LibrarySession has the specified form', () => {
    const token = signLibrarySession(
      { id: 'k1', key: Buffer.alloc(32) },
      {
        session_id: 'lib_1',
        project_id: 'prj_1',
        library: 'default',
        library_id: null,
        folder: '',
        permissions: ['browse'],
        origin: 'https://shop.example',
        subject_mac: 'm',
        key_id: 'key_1',
        max_file_bytes: 1,
        max_uploads: 1,
        iat: 1,
        exp: 2,
      },
    );
    const { format = '' } = schemes.get('LibrarySession') ?? {};
    const form = format.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[A-Za-z0-9_-]+');
    expect(token).toMatch(new RegExp(`^${form}$`));
    expect(isLibrarySession(token)).toBe(true);
  });

  it('an API key is a fixed prefix and 36 hex characters', () => {
    const { plaintext_secret, prefix, last_four } = newApiKey();
    expect(plaintext_secret.slice(prefix.length)).toMatch(/^[0-9a-f]{36}$/);
    expect(last_four).toBe(plaintext_secret.slice(-4));
    expect(isApiKey(plaintext_secret)).toBe(true);
    expect(newApiKey().prefix).toBe(prefix);
  });
});

describe('the webhook signature', () => {
  const t = 1_795_000_000;
  const event =
    '{"id":"a","event":"upload.ready","created_at":"2026-11-20T10:00:00.000Z","data":{}}';
  const header = signWebhook({ secrets: [SECRET], t, body: event });
  const verify = (changes: { header?: string; body?: string; now_seconds?: number }) =>
    verifyWebhook({ secret: SECRET, header, body: event, now_seconds: t, ...changes });

  it("is t=<unix seconds>,v1=<hex hmac-sha256(callback_secret, t + '.' + body)>", () => {
    const mac = createHmac('sha256', SECRET).update(`${t}.${event}`).digest('hex');
    expect(header).toBe(`t=${t},v1=${mac}`);
    expect(verify({})).toMatchObject({ valid: true });
  });

  it('fails with each reason of the specification', () => {
    const empty = signWebhook({ secrets: [SECRET], t, body: '{}' });
    const verdicts = [
      verify({ header: '' }),
      verify({ header: 'v1=abc' }),
      verify({ now_seconds: t + 301 }),
      verify({ body: `${event} ` }),
      verify({ header: empty, body: '{}' }),
    ];
    const reasons = errors.verifier_reasons.rows.map((row) => row.reason);
    expect(verdicts).toEqual(reasons.map((reason) => ({ valid: false, reason })));
  });

  it('is accepted if any one of several v1 values matches', () => {
    const rotated = signWebhook({ secrets: ['an older secret', SECRET], t, body: event });
    expect(verify({ header: rotated })).toMatchObject({ valid: true });
  });

  it('is accepted only if its time is at most 300 seconds before or after the receiver’s clock', () => {
    for (const side of [-1, 1]) {
      expect(verify({ now_seconds: t + side * 300 })).toMatchObject({ valid: true });
      expect(verify({ now_seconds: t + side * 301 })).toMatchObject({ valid: false });
    }
  });
});
