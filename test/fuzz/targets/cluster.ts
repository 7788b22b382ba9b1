/** What the Kubernetes API server sends: the lines of a watch, and its errors. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { KubeFailure, parseFailure } from '../../../operator/kube/kube-failure.ts';
import { leases, printSign } from '../../../operator/kube/lease-record.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import type { Transport } from '../../../operator/kube/transport.ts';
import { openWatch, type WatchEvent } from '../../../operator/kube/watch-stream.ts';
import { bytes, type Target, text } from '../target.ts';
import { parseJson } from './parse-json.ts';

const object = {
  metadata: {
    name: 'main',
    namespace: 'default',
    uid: 'u1',
    resourceVersion: '12',
    managedFields: [{}],
  },
  spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 3 },
};
const events = [
  { type: 'ADDED', object },
  { type: 'MODIFIED', object },
  { type: 'BOOKMARK', object: { metadata: { resourceVersion: '13' } } },
  { type: 'DELETED', object },
  { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } },
];
const PIECE_BYTES = 50;

type Seen = { events: WatchEvent<unknown>[]; failure: KubeFailure | undefined };

function follow(stream: Buffer): Promise<Seen> {
  const pieces = Array.from({ length: Math.ceil(stream.length / PIECE_BYTES) }, (_, at) =>
    stream.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  );
  const response = Object.assign(Readable.from(pieces), {
    statusCode: 200,
  }) as Readable as IncomingMessage;
  const transport: Transport = {
    open: async () => ({ ok: true, value: response }),
    send: () => Promise.reject(new Error('nothing is sent')),
    readRest: () => Promise.reject(new Error('nothing is left')),
    answering_ms: () => 0,
    close: () => undefined,
  };
  const credentials = {
    server: new URL('http://a'),
    options: async () => ({}),
    forget: () => undefined,
  };
  const wanted = { type: leases, resource_version: '1', timeout_seconds: 1 };
  const seen: WatchEvent<unknown>[] = [];
  return new Promise((resolve) => {
    openWatch({ transport, clock: systemTimedClock, credentials }, wanted, {
      opened: () => undefined,
      event: (event) => void seen.push(event),
      ended: (failure) => resolve({ events: seen, failure }),
    });
  });
}

const watch = bytes({
  name: 'events-of-a-watch',
  seeds: () => [
    ...events.map((event) => Buffer.from(`${JSON.stringify(event)}\n`)),
    Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join('')),
  ],
  async run(input) {
    const { events: seen, failure } = await follow(input);
    assert.ok(failure === undefined || failure instanceof KubeFailure);
    for (const event of seen) {
      if (event.kind !== 'bookmark')
        assert.equal(typeof printSign(event.object as never), 'string');
      else assert.equal(typeof event.resource_version, 'string');
    }
    return seen.length === 0
      ? undefined
      : { kinds: seen.map(({ kind }) => kind), why: failure?.reason };
  },
});

const STATUS = {
  code: 422,
  reason: 'Invalid',
  message: 'spec.replicas: must be positive',
  details: {
    retryAfterSeconds: 3,
    causes: [{ field: 'spec.replicas', reason: 'FieldValueInvalid', message: 'no' }],
  },
};

const refusalsOfKube = text({
  name: 'refusals-of-kubernetes',
  seeds: () => [
    JSON.stringify(STATUS),
    '{"code":409,"reason":"AlreadyExists"}',
    '{"details":null}',
  ],
  run(input) {
    const body = parseJson(input);
    const status =
      typeof body === 'object' && body !== null && 'code' in body ? Number(body.code) : 500;
    const { reason, message, retry_after_ms } = parseFailure({
      status,
      body,
      retry_after: input,
    });
    assert.equal(typeof message, 'string');
    assert.ok(retry_after_ms === undefined || Number.isFinite(retry_after_ms), `${retry_after_ms}`);
    return body === undefined ? undefined : { reason, message };
  },
});

export const clusterTargets: readonly Target[] = [watch, refusalsOfKube];
