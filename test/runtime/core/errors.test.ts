import { describe, expect, it } from 'vitest';
import { browserClientErrors } from '../../../runtime/core/browser-client-errors.ts';
import {
  additionalDeliveryCodes,
  additionalErrors,
  apiErrors,
  deliveryErrors,
  errorEnvelope,
  helperErrors,
  processingErrors,
  ServiceError,
  verifierReasons,
} from '../../../runtime/core/errors.ts';

const messages = [
  ...Object.values(apiErrors).map((row) => row.message),
  ...Object.values(deliveryErrors).map((row) => row.message),
  ...Object.values(processingErrors).map((row) => row.message),
  ...Object.values(helperErrors).map((row) => row.message),
  ...Object.values(browserClientErrors),
  ...Object.values(verifierReasons),
];

describe('the error tables', () => {
  it('give every code a message of whole sentences', () => {
    for (const message of messages) expect(message).toMatch(/^[A-Z].*\.$/s);
  });

  it('give every API and delivery code a lower snake case name and an error status', () => {
    for (const table of [apiErrors, deliveryErrors]) {
      for (const [code, row] of Object.entries(table)) {
        expect(code).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
        expect(row.status).toBeGreaterThanOrEqual(400);
        expect(row.status).toBeLessThan(600);
      }
    }
  });

  it('give a code shared by two surfaces its own status on each', () => {
    expect(apiErrors.invalid_signature.status).toBe(401);
    expect(deliveryErrors.invalid_signature.status).toBe(403);
    expect(apiErrors.transform_chain_not_allowed.status).toBe(400);
    expect(deliveryErrors.transform_chain_not_allowed.status).toBe(403);
  });

  it('contain the codes that Tintype adds to the specification', () => {
    for (const code of Object.keys(additionalErrors)) expect(apiErrors).toHaveProperty(code);
    for (const code of additionalDeliveryCodes) expect(deliveryErrors).toHaveProperty(code);
  });
});

describe('ServiceError', () => {
  it('carries status and message of its code', () => {
    const error = new ServiceError('upload_expired', { details: { expires_at: 'then' } });
    expect(error).toMatchObject({ code: 'upload_expired', status: 410, name: 'ServiceError' });
    expect(error.message).toBe(apiErrors.upload_expired.message);
    expect(error.details).toEqual({ expires_at: 'then' });
    expect(error.retryAfterSeconds).toBeUndefined();
  });

  it('accepts its own message, a cause and a Retry-After', () => {
    const cause = new Error('secret');
    const error = new ServiceError('rate_limited', {
      message: 'Slow.',
      cause,
      retryAfterSeconds: 7,
    });
    expect(error.message).toBe('Slow.');
    expect(error.cause).toBe(cause);
    expect(error.retryAfterSeconds).toBe(7);
  });

  it('accepts exactly the details that the code lists', () => {
    const sent = new ServiceError('proxy_upload_too_large', {
      details: { max_bytes: 1, mode: 'proxy' },
    });
    expect(Object.keys(sent.details ?? {})).toEqual([...apiErrors.proxy_upload_too_large.details]);
    // The compiler rejects each of these.
    const wrong = [
      // @ts-expect-error a key that the code does not list
      new ServiceError('file_too_large', { details: { bytes: 1 } }),
      // @ts-expect-error one key too many
      new ServiceError('file_too_large', { details: { max_bytes: 1, mode: 'direct' } }),
      // @ts-expect-error a missing key
      new ServiceError('proxy_upload_too_large', { details: { max_bytes: 1 } }),
      // @ts-expect-error a code without details
      new ServiceError('not_found', { details: { path: '/' } }),
      // @ts-expect-error failed sessions have no details
      new ServiceError({ error_code: 'decode_failed' }, { details: {} }),
    ];
    expect(wrong).toHaveLength(5);
  });

  it('maps a processing error code to 422, whatever its status elsewhere', () => {
    for (const error_code of ['session_expired', 'file_too_large', 'decode_failed'] as const) {
      const error = new ServiceError({ error_code });
      expect(error).toMatchObject({ code: error_code, status: 422 });
      expect(error.message).toBe(processingErrors[error_code].message);
    }
  });
});

describe('errorEnvelope', () => {
  it('contains code and message, and details only if they are given', () => {
    expect(errorEnvelope({ code: 'a', message: 'b' })).toEqual({
      error: { code: 'a', message: 'b' },
    });
    expect(errorEnvelope({ code: 'a', message: 'b', details: null })).toEqual({
      error: { code: 'a', message: 'b', details: null },
    });
  });

  it('never carries the cause', () => {
    const error = new ServiceError('internal', { cause: new Error('password') });
    expect(JSON.stringify(errorEnvelope(error))).not.toContain('password');
  });
});
