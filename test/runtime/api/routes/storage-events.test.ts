// Spec: Infrastructure (storage-events); StorageEventSignature; Upload session (status).
import { beforeAll, describe, expect, it } from 'vitest';
import { failUpload } from '../../../../runtime/actions/fail-upload.ts';
import { storageEventsRecord } from '../../../../runtime/core/resources/inbound.ts';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import type { UploadRecord } from '../../../../runtime/core/resources/upload.ts';
import { signStorageEvent } from '../../../../runtime/core/signing/storage-event.ts';
import { claimUpload } from '../../../../runtime/db/claim-upload.ts';
import { updateUploadExpired } from '../../../../runtime/db/upload-ends.ts';
import { findUpload } from '../../../../runtime/db/uploads.ts';
import type { JobContext } from '../../../../runtime/jobs/job.ts';
import { uploadSweep } from '../../../../runtime/jobs/upload-sweep.ts';
import { noCdn } from '../../../../runtime/platform/cdn/cdn.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  newSubject,
} from '../../../support/api-client.ts';
import { STORAGE_EVENT_SECRET, useApi } from '../../../support/api-server.ts';
import { isOnRealServers } from '../../../support/backend.ts';
import { must, publish } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const PATH = '/v1/internal/storage-events';
const RACES = isOnRealServers() ? 20 : 60;
const bytes = Buffer.from('bytes that storage took');
let project: ProjectRecord;
let path: string;
let call: Caller;

beforeAll(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/uploads`;
  call = api.withKey(await createKey(owner, project.project_slug, ['files:write', 'files:read']));
});

function tell(body: unknown, secret = STORAGE_EVENT_SECRET) {
  const raw = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = signStorageEvent(secret, Buffer.from(raw));
  const headers = { 'x-storage-event-notification-signature': signature };
  return api.send({ method: 'POST', path: PATH, raw, headers });
}

async function create(settings: object = {}): Promise<UploadRecord> {
  const input = { content_type: 'image/png', size_bytes: bytes.length, ...settings };
  return (await call('POST', path, input)).body;
}

const keyOf = async ({ upload_id }: UploadRecord) =>
  must(await findUpload(api.db, upload_id)).ingest_key;
const statusOf = async ({ upload_id }: UploadRecord) =>
  (await call('GET', `${path}/${upload_id}`)).body.status;
const store = async (upload: UploadRecord, body = bytes) =>
  api.deps().buckets.ingest.write(await keyOf(upload), body, { content_type: 'image/png' });

/** As each storage sends them, reduced to the fields that all its versions have in common. */
const formats: [string, (key: string) => unknown][] = [
  [
    'the specification (a list of plain objects)',
    (key) => ({ events: [{ event: 'ObjectCreated:Put', key }] }),
  ],
  [
    'AWS',
    (key) => ({
      Records: [
        {
          eventVersion: '2.1',
          eventSource: 'aws:s3',
          eventName: 'ObjectCreated:Put',
          s3: {
            bucket: { name: 'ingest', arn: 'arn:aws:s3:::ingest' },
            object: { key: encodeURIComponent(key), size: 23, eTag: 'd41d', sequencer: '0A1B' },
          },
        },
      ],
    }),
  ],
  [
    'AWS, through SNS',
    (key) => ({
      Type: 'Notification',
      TopicArn: 'arn:aws:sns:eu-central-1:1:uploads',
      Message: JSON.stringify({
        Records: [{ eventName: 'ObjectCreated:Put', s3: { object: { key } } }],
      }),
    }),
  ],
  [
    'AWS, through EventBridge',
    (key) => ({
      source: 'aws.s3',
      'detail-type': 'Object Created',
      detail: { bucket: { name: 'ingest' }, object: { key, size: 23 }, reason: 'PutObject' },
    }),
  ],
  [
    'AWS, for a multipart upload',
    (key) => ({
      Records: [{ eventName: 'ObjectCreated:CompleteMultipartUpload', s3: { object: { key } } }],
    }),
  ],
  [
    'MinIO',
    (key) => ({
      EventName: 's3:ObjectCreated:Put',
      Key: `ingest/${key}`,
      Records: [
        {
          eventName: 's3:ObjectCreated:Put',
          s3: {
            bucket: { name: 'ingest' },
            object: { key: encodeURIComponent(key), contentType: 'image/png' },
          },
        },
      ],
    }),
  ],
  [
    'MinIO, without records',
    (key) => ({ EventName: 's3:ObjectCreated:Put', Key: `ingest/${key}` }),
  ],
  [
    'Ceph',
    (key) => ({
      Records: [
        {
          eventVersion: '2.2',
          eventSource: 'ceph:s3',
          eventName: 'ObjectCreated:Put',
          s3: { bucket: { name: 'ingest' }, object: { key, size: 23, metadata: [], tags: [] } },
        },
      ],
    }),
  ],
  [
    'versitygw',
    (key) => ({
      Records: [
        {
          eventName: 's3:ObjectCreated:Put',
          s3: { bucket: { name: 'ingest' }, object: { key, eTag: '"d41d"' } },
        },
      ],
    }),
  ],
  [
    'a relay that collects notifications',
    (key) => ({
      events: [{ Records: [{ eventName: 'ObjectCreated:Put', s3: { object: { key } } }] }],
    }),
  ],
];

describe('POST /v1/internal/storage-events', () => {
  it.each(formats)('completes the upload of the key in the format of %s', async (_name, print) => {
    const upload = await create();
    await store(upload);
    const { status, body } = await tell(print(await keyOf(upload)));
    expect(status).toBe(200);
    expectRecord(storageEventsRecord, body);
    expect(body).toEqual({ received: 1, matched: 1, ignored: 0 });
    expect(await statusOf(upload)).toBe('uploaded');
  });

  it('counts matching events and ignores other keys, other events and unknown fields', async () => {
    const [one, two] = [await create(), await create()];
    await store(one);
    await store(two);
    const created = (key: unknown) => ({ eventName: 'ObjectCreated:Put', s3: { object: { key } } });
    const events = [
      { ...created(await keyOf(one)), surprise: { deep: [1] } },
      created(`${project.project_id}/none`),
      created('%zz'),
      created('a%00b'),
      created(3),
      { eventName: 'ObjectRemoved:Delete', s3: { object: { key: await keyOf(two) } } },
      {},
    ];
    const { body } = await tell({ events, other: 'field' });
    expect(body).toEqual({ received: 7, matched: 1, ignored: 6 });
    expect([await statusOf(one), await statusOf(two)]).toEqual(['uploaded', 'created']);
  });

  it('accepts the test event of a storage and an empty list', async () => {
    const test = { Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'ingest', HostId: 'x' };
    expect((await tell(test)).body).toEqual({ received: 1, matched: 0, ignored: 1 });
    expect((await tell({ events: [] })).body).toEqual({ received: 0, matched: 0, ignored: 0 });
  });

  it('completes an upload only if storage holds the declared bytes', async () => {
    const [missing, wrong, other] = [
      await create(),
      await create(),
      await create({ sha256: '0'.repeat(64) }),
    ];
    await store(wrong, Buffer.from('x'));
    await store(other);
    for (const upload of [missing, wrong, other]) {
      const { body } = await tell({
        events: [{ event: 'ObjectCreated:Put', key: await keyOf(upload), size: 23 }],
      });
      expect(body).toEqual({ received: 1, matched: 1, ignored: 0 });
      expect(await statusOf(upload)).toBe('created');
    }
  });

  it('changes nothing when an event is repeated, whatever the state of its upload', async () => {
    const rowOf = async ({ upload_id }: UploadRecord) => must(await findUpload(api.db, upload_id));
    const claim = async ({ upload_id }: UploadRecord) =>
      must(await claimUpload(api.db, { upload_id, lease_seconds: 60 }));
    const moves: Record<string, (upload: UploadRecord) => Promise<unknown>> = {
      uploaded: async () => undefined,
      processing: claim,
      ready: async (upload) => claim(upload).then(async () => publish(api.db, await rowOf(upload))),
      failed: async (upload) => {
        const { upload_id, attempt } = await claim(upload);
        return failUpload(api, { upload_id, attempt, error_code: 'decode_failed' });
      },
    };
    for (const [status, move] of Object.entries(moves)) {
      const upload = await create();
      await store(upload);
      const event = { events: [{ event: 'ObjectCreated:Put', key: await keyOf(upload) }] };
      await tell(event);
      await move(upload);
      const { remaining_seconds: _soon, ...before } = await rowOf(upload);
      expect(before.status).toBe(status);
      for (let times = 0; times < 5; times += 1) expect((await tell(event)).status).toBe(200);
      const { remaining_seconds: _later, ...after } = await rowOf(upload);
      expect(after).toEqual(before);
    }
  });

  it('leaves an expired upload expired, even if its bytes are stored', async () => {
    const upload = await create();
    await store(upload);
    const { upload_id } = upload;
    const lapse = `update uploads set expires_at = now() - interval '1 second' where upload_id = $1`;
    await api.db.query(lapse, [upload_id]);
    await api.db.transaction((tx) => updateUploadExpired(tx, upload_id));
    await tell({ events: [{ event: 'ObjectCreated:Put', key: await keyOf(upload) }] });
    expect(await statusOf(upload)).toBe('expired');
  });

  it('returns 401 invalid_signature unless exactly these bytes are signed, before parsing them', async () => {
    const body = { events: [] };
    expect(codeOf(await tell(body, 'another secret'))).toBe('401 invalid_signature');
    expect(codeOf(await tell('not json', 'another secret'))).toBe('401 invalid_signature');
    expect(codeOf(await api.send({ method: 'POST', path: PATH, body }))).toBe(
      '401 invalid_signature',
    );
    api.change({ storageEventSecret: undefined });
    expect(codeOf(await tell(body))).toBe('401 invalid_signature');
  });

  it('returns 400 for a body that is not JSON or not a list of objects', async () => {
    expect(codeOf(await tell('not json'))).toBe('400 invalid_json');
    for (const body of [{}, [], { events: 'x' }, { events: [1] }, { Records: {} }, 'null', '3']) {
      expect(codeOf(await tell(body)), JSON.stringify(body)).toBe('400 invalid_request');
    }
  });

  it('returns 413 payload_too_large above 1 MiB', async () => {
    const answer = await tell({ events: [], pad: 'x'.repeat(2 ** 20) });
    expect(codeOf(answer)).toBe('413 payload_too_large');
    expect(answer.body.error.details).toEqual({ max_bytes: 2 ** 20 });
  });

  it('returns 500 internal without the cause if processing fails', async () => {
    const upload = await create();
    await store(upload);
    const { buckets } = api.deps();
    const head = () => Promise.reject(new Error('canary'));
    api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, head } } });
    const answer = await tell({
      events: [{ event: 'ObjectCreated:Put', key: await keyOf(upload) }],
    });
    expect(codeOf(answer)).toBe('500 internal');
    expect(answer.text).not.toContain('canary');
  });
});

describe('several storage events in one request', () => {
  const created = (key: string) => ({ event: 'ObjectCreated:Put', key });

  it('are all processed even if one of them fails', async () => {
    const [bad, good] = [await create(), await create()];
    await store(bad);
    await store(good);
    const badKey = await keyOf(bad);
    const { buckets } = api.deps();
    const head: typeof buckets.ingest.head = (key) =>
      key === badKey ? Promise.reject(new Error('away')) : buckets.ingest.head(key);
    api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, head } } });
    const events = [created(badKey), created(await keyOf(good))];
    expect((await tell({ events })).status).toBe(500);
    expect([await statusOf(bad), await statusOf(good)]).toEqual(['created', 'uploaded']);
  });

  it('are each logged if they fail', async () => {
    const uploads = [await create(), await create()];
    const { buckets } = api.deps();
    const head = () => Promise.reject(new Error('away'));
    api.change({ buckets: { ...buckets, ingest: { ...buckets.ingest, head } } });
    const events = await Promise.all(uploads.map(async (each) => created(await keyOf(each))));
    expect((await tell({ events })).status).toBe(500);
    const reported = api.logged().filter(({ level }) => level === 'warn');
    expect(reported.map(({ upload_id }) => upload_id)).toEqual(
      uploads.map(({ upload_id }) => upload_id),
    );
  });

  it('are looked up together: 12,001 of them in fewer than 20 queries', async () => {
    const upload = await create();
    await store(upload);
    const { db } = api.deps();
    let asked = 0;
    const query: typeof db.query = (...words) => {
      asked += 1;
      return db.query(...words);
    };
    api.change({ db: { ...db, query } });
    const unknown = Array.from({ length: 12_000 }, (_, n) => created(`${project.project_id}/${n}`));
    const { body } = await tell({ events: [...unknown, created(await keyOf(upload))] });
    expect(body).toEqual({ received: 12_001, matched: 1, ignored: 12_000 });
    expect(asked).toBeLessThan(20);
    expect(await statusOf(upload)).toBe('uploaded');
  });
});

describe('the four ways to complete an upload', () => {
  it('make one transition and leave the same session when they run concurrently', async () => {
    const ids: string[] = [];
    const rung: string[] = [];
    const listener = await api.deps().queue.consume('ingest', { slots: 1 }, async (message) => {
      rung.push((message as { upload_id: string }).upload_id);
    });
    for (let round = 0; round < RACES; round += 1) {
      const upload = await create({ mode: 'proxy' });
      await api.db.query(
        `update uploads set created_at = created_at - interval '1 minute' where upload_id = $1`,
        [upload.upload_id],
      );
      const event = { events: [{ event: 'ObjectCreated:Put', key: await keyOf(upload) }] };
      const put = () =>
        fetch(upload.proxy?.put_url ?? '', {
          method: 'PUT',
          body: bytes,
          headers: { 'content-type': 'image/png' },
        });
      const complete = () => call('POST', `${path}/${upload.upload_id}/complete`);
      await store(upload);
      const movers: (() => Promise<unknown>)[] = [
        put,
        complete,
        () => tell(event),
        sweep,
        complete,
        () => tell(event),
        put,
        sweep,
      ];
      await Promise.all(movers.map((mover) => mover()));
      const answers = await Promise.all([complete(), complete()]);
      expect(answers.map(codeOf)).toEqual(['200', '200']);
      expect(answers[0]?.body).toEqual(answers[1]?.body);
      expect(answers[0]?.body.status).toBe('uploaded');
      ids.push(upload.upload_id);
      const moved = await api.db.query(
        'select 1 from uploads where upload_id = $1 and uploaded_at is not null',
        [upload.upload_id],
      );
      expect(moved).toHaveLength(1);
      // As a worker would, so that the sweeps of later rounds need not notify of it again.
      await claimUpload(api.db, { upload_id: upload.upload_id, lease_seconds: 600 });
    }
    // At least one notification for each upload.
    await expect.poll(() => rung, { timeout: 30_000 }).toEqual(expect.arrayContaining(ids));
    await listener.stop();
  }, 300_000);
});

async function sweep(): Promise<unknown> {
  const { db, buckets, queue, clock, log } = api.deps();
  const context: JobContext = {
    ...{ db, buckets, queue, clock, log, cdn: noCdn, at: clock.now(), run: 'test' },
    signal: new AbortController().signal,
  };
  return uploadSweep(context);
}
