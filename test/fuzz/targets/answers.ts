/**
 * Responses of other servers: storages, CDNs, identity providers, the scanner, a payment provider, and what browsers send
 * to the SDK.
 */
import assert from 'node:assert/strict';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { parseRetryAfter } from '../../../runtime/core/events.ts';
import { SCAN_SCORES_MAX } from '../../../runtime/core/limits.ts';
import { openProviderB } from '../../../runtime/platform/billing/provider-b.ts';
import { createCloudflareApi } from '../../../runtime/platform/cdn/cloudflare.ts';
import { createFastlyApi } from '../../../runtime/platform/cdn/fastly.ts';
import { createIdentity } from '../../../runtime/platform/identity.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { judgeAnswer } from '../../../runtime/platform/scanner/http-scanner.ts';
import { ScannerFault } from '../../../runtime/platform/scanner/scanner.ts';
import { StorageUnavailable } from '../../../runtime/platform/storage/bucket.ts';
import { s3Code, s3Fault } from '../../../runtime/platform/storage/s3-faults.ts';
import { readApiError } from '../../../runtime/sdk/server/api-error.ts';
import { UploadRefusal } from '../../../runtime/sdk/server/upload-refusal.ts';
import { readUploadRequest } from '../../../runtime/sdk/server/upload-requests.ts';
import { refusals, type Target, text } from '../target.ts';
import { parseJson } from './parse-json.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const clock = { now: () => NOW };

const retryAfter = text({
  name: 'retry-after',
  seeds: () => ['120', 'Fri, 20 Nov 2026 08:05:00 GMT', '-1', '99999999999999999999'],
  run(input) {
    const seconds = parseRetryAfter(input, NOW);
    assert.ok(Number.isSafeInteger(seconds) && seconds >= 0);
    return seconds === 0 ? undefined : seconds;
  },
});

const CDNS = [
  createCloudflareApi({ zone: 'z', token: 't' }),
  createFastlyApi({ service: 's', token: 't' }),
];

const cdn = text({
  name: 'answers-of-cdns',
  seeds: () => [
    '200\n\n{"success":true,"errors":[],"result":{"name":"shop.example","status":"active"}}',
    '200\n\n{"success":false,"errors":[{"code":1000,"message":"no"}]}',
    '200\n\n{"prj_1":"108-139","file_1":"109-1"}',
    '429\n30\n{"msg":"Rate","detail":"limit"}',
    '503\nFri, 20 Nov 2026 08:05:00 GMT\n<html>',
  ],
  run(input) {
    const [status = '', after = '', ...rest] = input.split('\n');
    const answer = {
      status: Number(status) || 0,
      headers: { 'retry-after': after },
      text: rest.join('\n'),
    };
    const targets = ['prj_1', 'file_1'];
    return CDNS.map((api) => {
      const verdict = api.judge(answer, targets);
      if (verdict === undefined) return 'taken';
      assert.ok(verdict.targets.every((each) => targets.includes(each)));
      const { retry_after_seconds: seconds } = verdict.refusal.facts;
      assert.ok(seconds === undefined || (seconds >= 1 && seconds <= 3600), `${seconds}`);
      return verdict.refusal.message;
    });
  },
});

const scanner = text({
  name: 'answers-of-scanners',
  seeds: () => [
    '200\n\n{"scores":{"nudity":0.98,"violence":0},"model":"m"}',
    '200\n\n{"scores":{}}',
    '422\n\n{"error":"not a picture"}',
    '503\n30\n<html>',
  ],
  run(input) {
    const [status = '', after = '', ...rest] = input.split('\n');
    const scores = judgeAnswer(
      {
        statusCode: Number(status) || 0,
        headers: { 'retry-after': after },
        bytes: Buffer.from(rest.join('\n')),
      },
      clock,
    );
    const all = Object.entries(scores);
    assert.ok(all.length <= SCAN_SCORES_MAX);
    for (const [name, score] of all) assert.ok(/^[a-z]\w*$/.test(name) && score >= 0 && score <= 1);
    return scores;
  },
  refuses: (error) =>
    error instanceof ScannerFault && Number.isSafeInteger(error.retry_after_seconds),
});

const SUBSCRIPTION = { subscription_id: 'sub_1', changed_at: NOW };
const STATUSES_WITHOUT_BODY = [204, 205, 304];
const log = createLog({ level: 'silent', name: 'fuzz' });

/** A line for each answer: first to the cancellation, then to the look-up. */
const providerB = text({
  name: 'answers-of-provider-b',
  seeds: () => [
    '200 {"id":"sub_1","object":"subscription","status":"scheduled_cancel"}',
    '404 {"error":"not found"}\n200 {"status":"canceled"}',
    '400 {}\n200 {"status":"active"}',
    '429 {}',
    '503 <html>',
  ],
  async run(input) {
    const answers = input.split('\n');
    const answer = async () => {
      const [, code = '', body = ''] = /^(\d{0,3}) ?(.*)$/s.exec(answers.shift() ?? '') ?? [];
      const status = Number(code) >= 200 && Number(code) < 600 ? Number(code) : 500;
      return new Response(STATUSES_WITHOUT_BODY.includes(status) ? null : body, { status });
    };
    const place = { url: 'https://b.example', api_key: 'k', deadline_ms: 100 };
    const status = await openProviderB({ ...place, clock, log, fetch: answer }).cancel(
      SUBSCRIPTION,
    );
    assert.ok(['scheduled_cancel', 'canceled', 'expired'].includes(status), status);
    return status;
  },
  refuses: refusals(ServiceError, 'providerb_request_failed'),
});

const storage = text({
  name: 'errors-of-storages',
  seeds: () => ['NoSuchBucket\n404', 'SlowDown\n503', 'ECONNREFUSED\n', 'x\n500', 'toString\n403'],
  run(input) {
    const [name = '', status = ''] = input.split('\n');
    const facts = status === '' ? {} : { $metadata: { httpStatusCode: Number(status) } };
    const error = Object.assign(new Error('from the storage'), { name, ...facts });
    const fault = s3Fault('bucket', error);
    assert.ok(fault === error || fault instanceof StorageUnavailable);
    if (fault instanceof StorageUnavailable)
      assert.ok(!/undefined|function|\[native/.test(fault.advice), fault.advice);
    return fault === error ? undefined : { code: s3Code(error) };
  },
});

const JWK = { kty: 'RSA', kid: 'a', n: 'q'.repeat(342), e: 'AQAB', alg: 'RS256', use: 'sig' };
const TOKEN = [
  { alg: 'RS256', kid: 'a' },
  { iss: 'https://a.example', sub: 'u', exp: 1_900_000_000 },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .concat('c2ln')
  .join('.');

const keySets = text({
  name: 'key-sets',
  seeds: () => [
    JSON.stringify({ keys: [JWK] }),
    JSON.stringify({ keys: [{ ...JWK, kid: 'b', use: 'enc' }, null, { kty: 'EC' }] }),
  ],
  async run(input) {
    const identity = createIdentity({
      issuer: 'https://a.example',
      jwksUrl: 'https://a.example/keys',
      clock,
      fetch: async () => new Response(input),
    });
    await assert.rejects(identity.verify(TOKEN), (error: unknown) => {
      assert.ok(refusals(ServiceError, 'unauthorized', 'auth_unavailable')(error), String(error));
      return true;
    });
    return parseJson(input);
  },
});

const PREPARE = {
  action: 'prepare',
  route: 'avatar',
  file: { name: 'a.png', content_type: 'image/png', size_bytes: 5 },
  input: { x: 1 },
};

const uploadRequests = text({
  name: 'requests-to-the-sdk',
  seeds: () => [
    JSON.stringify(PREPARE),
    '{"action":"complete","token":"t","parts":[{"part_number":1,"etag":"e"}]}',
    '{"action":"parts","token":"t"}',
  ],
  run(input) {
    const headers = { 'content-type': 'application/json' };
    return readUploadRequest(
      new Request('https://a.example', { method: 'POST', body: input, headers }),
    );
  },
  refuses: refusals(UploadRefusal),
});

const apiErrors = text({
  name: 'errors-to-the-sdk',
  seeds: () => [
    '{"error":{"code":"not_found","message":"No such file.","request_id":"r1","details":{"issues":[]}}}',
    '<html>',
  ],
  async run(input) {
    const { code, message } = await readApiError(new Response(input, { status: 503 }));
    assert.ok(typeof code === 'string' && typeof message === 'string');
    return parseJson(input) === undefined ? undefined : code;
  },
});

export const answerTargets: readonly Target[] = [
  retryAfter,
  cdn,
  scanner,
  providerB,
  storage,
  keySets,
  uploadRequests,
  apiErrors,
];
