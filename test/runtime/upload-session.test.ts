// Spec: Upload session (status). Random histories of everything that can happen to sessions, with the real API,
// storage, database, sweep and decoder, against a model; every transition must be in test/spec/states.json.
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signStorageEvent } from '../../runtime/core/signing/storage-event.ts';
import { claimUpload } from '../../runtime/db/claim-upload.ts';
import { findUpload } from '../../runtime/db/uploads.ts';
import { uploadSweep } from '../../runtime/jobs/upload-sweep.ts';
import { noCdn } from '../../runtime/platform/cdn/cdn.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { ingestUpload } from '../../runtime/worker/ingest/ingest-upload.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';
import { KILLED_AT, killWorkerAt } from '../fault/support/mid-upload-kill.ts';
import { makeStorage, type StorageWords, type TestStorage } from '../fault/support/storages.ts';
import additions from '../spec/additions.json' with { type: 'json' };
import states from '../spec/states.json' with { type: 'json' };
import { type Caller, createKey, createProject, newSubject } from '../support/api-client.ts';
import { STORAGE_EVENT_SECRET, useApi } from '../support/api-server.ts';
import { type DatabaseClock, takeDatabaseClock } from '../support/database-clock.ts';
import { over, photograph } from '../support/pictures.ts';
import { must } from '../support/rows.ts';
import {
  type Answered,
  aborts,
  completes,
  type Digest,
  isProcessed,
  isSwept,
  isToBeReady,
  type Mode,
  type ModelSession,
  notices,
  type Stored,
  sendsTo,
  takesProxyPut,
} from '../support/upload-model.ts';

/** The histories on each storage; TINTYPE_SOAK_HISTORIES sets their number. */
const RUNS = Number(process.env['TINTYPE_SOAK_HISTORIES'] ?? 10);
const SERIES_MS_MAX = 60_000 + RUNS * 20_000;
/** The time to report a failure with the shortest history found until then. */
const REPORT_MS = 20_000;
const COMMANDS_MAX = 40;
const CRASHES_MAX = 3;
/** How many processes are killed at most, over all histories on one storage. */
const KILLS_MAX = 3 + RUNS / 50;

const api = useApi();
const owner = api.session(newSubject());
let bytes: Record<Exclude<Stored, 'none'>, Buffer>;
/** The bytes of multipart uploads in two parts: the smallest first one, and a short last one. */
let large: Buffer;
let sandbox: Sandbox;
let s3: TestStorage | undefined;
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await takeDatabaseClock(api.databaseUrl(), api.db);
  const right = await over(photograph(16, 12)).png().toBuffer();
  const same_size = Buffer.alloc(right.length, 'x');
  large = padded(right, PART_BYTES_MIN);
  bytes = { right, same_size, other_size: Buffer.from('short') };
  sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 60_000,
    memory_bytes: 1_000_000_000,
    jobs_per_child: 1000,
    log: api.deps().log,
  });
  s3 = await makeStorage('S3');
});
afterAll(async () => {
  await sandbox.close();
  await s3?.remove();
});

const PART_BYTES_MIN = 5 * 2 ** 20;

/** The same picture with a chunk of this length after its header, which decoders ignore. */
function padded(png: Buffer, length: number): Buffer {
  const body = Buffer.concat([Buffer.from('paDd', 'latin1'), Buffer.alloc(length)]);
  const [size, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([png.subarray(0, 33), size, body, check, png.subarray(33)]);
}

const rightBytes = (mode: Mode) => (mode === 'multipart' ? large : bytes.right);

type Model = { sessions: ModelSession[]; crashes: number };
type Real = {
  call: Caller;
  path: string;
  buckets: Buckets;
  /** How other processes open the buckets. */
  words: StorageWords;
  sent: Map<string, Sent>;
};
/** The response to the create call. */
type Sent = { body: Awaited<ReturnType<Caller>>['body']; etags: string[] };
type Command = fc.AsyncCommand<Model, Real>;

const sha256 = (value: Buffer) => createHash('sha256').update(value).digest('hex');
const digests: Record<Digest, (mode: Mode) => string | null> = {
  none: () => null,
  right: (mode) => sha256(rightBytes(mode)),
  other: () => sha256(Buffer.from('something else')),
};

class Create implements Command {
  readonly mode: Mode;
  readonly digest: Digest;
  readonly slug: string;
  constructor(mode: Mode, digest: Digest, slug: string) {
    this.mode = mode;
    this.digest = digest;
    this.slug = slug;
  }
  check = ({ sessions }: Readonly<Model>) => sessions.length < 6;
  toString = () => `create(${this.mode}, digest ${this.digest}, ${this.slug})`;
  run = async (model: Model, real: Real) => {
    const declared = digests[this.digest](this.mode);
    const { status, body } = await real.call('POST', real.path, {
      content_type: 'image/png',
      size_bytes: rightBytes(this.mode).length,
      file_slug: this.slug,
      ...(declared === null ? {} : { sha256: declared }),
      ...(this.mode === 'multipart' ? { parts: 2 } : {}),
      ...(this.mode === 'proxy' ? { mode: 'proxy' } : {}),
    });
    expect(status, JSON.stringify(body)).toBe(201);
    const { upload_id } = body;
    real.sent.set(upload_id, { body, etags: [] });
    // The sweep ignores sessions that are only seconds old.
    await api.db.query(
      `update uploads set created_at = created_at - interval '2 minutes' where upload_id = $1`,
      [upload_id],
    );
    model.sessions.push({
      upload_id,
      file_slug: this.slug,
      mode: this.mode,
      digest: this.digest,
      status: 'created',
      error_code: null,
      stored: 'none',
      has_part: false,
      put_at: Number.NEGATIVE_INFINITY,
      is_over: false,
    });
    await compare(model, real);
  };
}

type OnSession = {
  name: string;
  isPossible?(session: ModelSession, model: Readonly<Model>): boolean;
  run(session: ModelSession, real: Real, model: Model): Promise<void>;
};

/** An action on one of the sessions. */
class Happen implements Command {
  readonly index: number;
  readonly what: OnSession;
  constructor(index: number, what: OnSession) {
    this.index = index;
    this.what = what;
  }
  #session = ({ sessions }: Readonly<Model>) => sessions[this.index % Math.max(1, sessions.length)];
  check = (model: Readonly<Model>) => {
    const session = this.#session(model);
    return session !== undefined && (this.what.isPossible?.(session, model) ?? true);
  };
  toString = () => `${this.what.name}(${this.index})`;
  run = async (model: Model, real: Real) => {
    await this.what.run(must(this.#session(model)), real, model);
    await compare(model, real);
  };
}

class Background implements Command {
  readonly name: string;
  readonly act: (model: Model, real: Real) => Promise<void>;
  constructor(name: string, act: Background['act']) {
    this.name = name;
    this.act = act;
  }
  check = () => true;
  toString = () => this.name;
  run = async (model: Model, real: Real) => {
    await this.act(model, real);
    await compare(model, real);
  };
}

function expectAnswer(
  actual: { status: number; body: Real['sent'] | unknown },
  expected: Answered,
) {
  const code = (actual.body as { error?: { code: string } } | undefined)?.error?.code;
  expect({ status: actual.status, ...(code === undefined ? {} : { code }) }).toEqual(expected);
}

const keyOf = async ({ upload_id }: ModelSession) =>
  must(await findUpload(api.db, upload_id)).ingest_key;

const entriesOf = <K extends string, V>(table: Record<K, V>) => Object.entries(table) as [K, V][];

const happenings: OnSession[] = [
  {
    name: 'PUT',
    isPossible: ({ mode, status }) => mode === 'direct' && status === 'created',
    run: async (session, { sent }) => {
      const { put_url, headers } = must(sent.get(session.upload_id)).body.direct;
      const { status } = await fetch(put_url, {
        method: 'PUT',
        headers,
        body: new Uint8Array(bytes.right),
      });
      expect(status).toBe(200);
      sendsTo(session, 'right');
    },
  },
  {
    name: 'PUT of another length',
    isPossible: ({ mode }) => mode === 'direct',
    run: async (session, { sent }) => {
      const { put_url, headers } = must(sent.get(session.upload_id)).body.direct;
      const { 'content-length': _, ...others } = headers;
      const { status } = await fetch(put_url, {
        method: 'PUT',
        headers: others,
        body: new Uint8Array(bytes.other_size),
      });
      expect(status).toBeGreaterThanOrEqual(400);
    },
  },
  {
    name: 'PUT of the parts',
    isPossible: ({ mode, status, stored }) =>
      mode === 'multipart' && status === 'created' && stored === 'none',
    run: async (session, { sent }) => {
      const of = must(sent.get(session.upload_id));
      const { part_size, parts } = of.body.multipart;
      of.etags = [];
      for (const [at, { url }] of parts.entries()) {
        const body = new Uint8Array(large.subarray(at * part_size, (at + 1) * part_size));
        const answer = await fetch(url, { method: 'PUT', body });
        expect(answer.status).toBe(200);
        of.etags.push(answer.headers.get('etag') ?? '');
      }
      session.has_part = true;
    },
  },
  {
    name: 'PUT through the proxy',
    isPossible: ({ mode }) => mode === 'proxy',
    run: async (session, { sent }) => {
      const answer = await fetch(must(sent.get(session.upload_id)).body.proxy.put_url, {
        method: 'PUT',
        headers: { 'content-type': 'image/png' },
        body: new Uint8Array(bytes.right),
      });
      const body = answer.status === 204 ? undefined : await answer.json();
      expectAnswer({ status: answer.status, body }, takesProxyPut(session, await timeNow()));
    },
  },
  ...(['right', 'same_size', 'other_size'] as const).map(
    (stored): OnSession => ({
      name: `overwrite with ${stored}`,
      // A presigned PUT can be repeated until it expires, even after the bytes were accepted.
      isPossible: ({ mode, status }) =>
        mode !== 'multipart' && ['created', 'uploaded', 'processing'].includes(status),
      run: async (session, { buckets }) => {
        await buckets.ingest.write(await keyOf(session), bytes[stored], {
          content_type: 'image/png',
        });
        sendsTo(session, stored);
      },
    }),
  ),
  ...(['right', 'wrong', 'none'] as const).map(
    (list): OnSession => ({
      name: `complete with ${list} list`,
      isPossible: ({ mode }) => mode === 'multipart' || list === 'none',
      run: async (session, { call, path, sent }) => {
        const { etags } = must(sent.get(session.upload_id));
        const parts = [0, 1].map((at) => ({
          part_number: at + 1,
          etag: etags[at] ?? `"${'0'.repeat(32)}"`,
        }));
        const lists = { right: { parts }, wrong: { parts: parts.slice(1) }, none: undefined };
        const answer = await call('POST', `${path}/${session.upload_id}/complete`, lists[list]);
        expectAnswer(answer, completes(session, list));
      },
    }),
  ),
  {
    name: 'storage event',
    run: async (session) => {
      const raw = JSON.stringify({
        events: [{ event: 'ObjectCreated:Put', key: await keyOf(session) }],
      });
      const signature = signStorageEvent(STORAGE_EVENT_SECRET, Buffer.from(raw));
      const { status } = await api.send({
        method: 'POST',
        path: '/v1/internal/storage-events',
        raw,
        headers: { 'x-storage-event-notification-signature': signature },
      });
      expect(status).toBe(200);
      notices(session);
    },
  },
  {
    name: 'abort',
    run: async (session, { call, path }) => {
      const answer = await call('POST', `${path}/${session.upload_id}/abort`);
      expectAnswer(answer, aborts(session));
    },
  },
  ...([-1, 0, 1] as const).map(
    (milliseconds): OnSession => ({
      name: `the clock stands ${milliseconds} ms from its end`,
      isPossible: ({ status, is_over }) => status === 'created' && !is_over,
      run: async (session, _real, { sessions }) => {
        const { upload_id } = session;
        if (!(await clock.setToExpiry(upload_id, milliseconds))) return;
        session.is_over = milliseconds >= 0;
        const ended = await api.db.query<{ upload_id: string }>(
          'select upload_id from uploads, clock.hands where expires_at <= at',
        );
        for (const one of ended) {
          const over = sessions.find(({ upload_id: id }) => id === one.upload_id);
          if (over !== undefined) over.is_over = true;
        }
      },
    }),
  ),
  ...entriesOf(KILLED_AT).map(
    ([step, status]): OnSession => ({
      name: nameOfKill(step),
      isPossible: (session, model) => isToBeReady(session) && mayKill(model),
      run: async (session, { words }, model) => {
        const { upload_id } = session;
        await killWorkerAt({ db: api.db, url: api.databaseUrl(), words }, { upload_id, step });
        session.status = status;
        model.crashes += 1;
        kills += 1;
      },
    }),
  ),
];

type KilledAt = keyof typeof KILLED_AT;
const KILLS = entriesOf(KILLED_AT).map(([step]) => step);

function nameOfKill(step: KilledAt): string {
  return `its worker's process is killed ${step}`;
}

/** The time of the database, in milliseconds. */
async function timeNow(): Promise<number> {
  const [row] = await api.db.query<{ now: Date }>('select now() as now');
  return must(row).now.getTime();
}

/** Kills of real processes, which are few because each takes as long as several histories. */
let kills = 0;
const mayKill = ({ crashes }: Readonly<Model>) => crashes < CRASHES_MAX && kills < KILLS_MAX;

const sweep = new Background('sweep', async ({ sessions }, { buckets }) => {
  const { db, clock, log, queue } = api.deps();
  const deps = { db, clock, log, queue, cdn: noCdn, buckets };
  const signal = new AbortController().signal;
  await uploadSweep({ ...deps, at: clock.now(), run: 'model', signal });
  const now = await timeNow();
  for (const session of sessions) isSwept(session, now);
});

const work = new Background('work', async ({ sessions }, { buckets }) => {
  const { db, clock, log } = api.deps();
  const deps = { db, clock, log, sandbox, buckets };
  const options = { ...deps, ingest_bytes_max: 20_000_000 };
  while ((await ingestUpload(options, null)).result !== 'idle');
  sessions.forEach(isProcessed);
});

/** A worker claims an upload and dies. */
const crash = new Background('a worker dies', async (model) => {
  if (model.crashes >= CRASHES_MAX) return;
  const claimed = await claimUpload(api.db, { upload_id: null, lease_seconds: 60 });
  await api.db.query(
    `update uploads set lease_until = now() - make_interval(secs => 1) where upload_id = $1`,
    [claimed?.upload_id ?? ''],
  );
  const session = model.sessions.find(({ upload_id }) => upload_id === claimed?.upload_id);
  if (session === undefined) return;
  session.status = 'processing';
  model.crashes += 1;
});

/** The API loses the state that it holds in memory. */
const restart = new Background('the API starts anew', async (_model, { buckets }) => {
  startApi(buckets);
});

const startApi = (buckets: Buckets) =>
  api.change({ buckets, settings: { ingestMaxBytes: 20_000_000 } });

const edges = new Map<string, Set<string>>();
for (const { state, next } of states.upload.rows) add(state, next);
for (const { table, state, next } of additions.state_rows) {
  if (table === 'upload') for (const one of state) add(one, next);
}
function add(from: string, to: string): void {
  edges.set(from, (edges.get(from) ?? new Set()).add(to));
}

/** Over any number of transitions in the table. */
function leadsTo(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  seen.add(from);
  return [...(edges.get(from) ?? [])].some((next) => !seen.has(next) && leadsTo(next, to, seen));
}

const before = new Map<string, string>();

/** Rows equal the model, statuses moved as the table allows, and counters agree with the rows. */
async function compare({ sessions }: Model, real: Real): Promise<void> {
  const ids = sessions.map(({ upload_id }) => upload_id);
  const rows = await api.db.query<{ upload_id: string; status: string; error_code: string | null }>(
    'select upload_id, status, error_code from uploads where upload_id = any($1) order by upload_id',
    [ids],
  );
  const expected = sessions.map(({ upload_id, status, error_code }) => ({
    upload_id,
    status,
    error_code,
  }));
  expect(rows).toEqual(expected.toSorted((a, b) => (a.upload_id < b.upload_id ? -1 : 1)));
  for (const { upload_id, status } of rows) {
    const was = before.get(upload_id) ?? '(none)';
    expect(leadsTo(was, status), `${was} → ${status}`).toBe(true);
    before.set(upload_id, status);
  }
  if (sessions.length === 0) return;
  await compareFiles(sessions);
  await compareSeen(rows, real);
}

/** The key and the owner see the same sessions as the database. */
async function compareSeen(rows: readonly object[], { call, path }: Real): Promise<void> {
  const [mine, owners] = await Promise.all([call('GET', path), owner('GET', path)]);
  expect(mine.body).toEqual(owners.body);
  const seen: ModelSession[] = mine.body.items;
  const summaries = seen.map(({ upload_id, status, error_code }) => ({
    upload_id,
    status,
    error_code,
  }));
  expect(summaries.toSorted((a, b) => (a.upload_id < b.upload_id ? -1 : 1))).toEqual(rows);
}

async function compareFiles(sessions: readonly ModelSession[]): Promise<void> {
  const [row] = await api.db.query<{
    reserved: number;
    files: number;
    revisions: number;
    ready: number;
    bytes: number;
    counted_bytes: number;
    events: string[];
  }>(
    `select p.reserved_bytes as reserved, p.file_count as files,
       (select count(*)::int from file_revisions r join uploads u using (upload_id)
        where u.project_id = p.project_id) as revisions,
       (select coalesce(sum(f.revision), 0)::int from files f where f.project_id = p.project_id) as ready,
       p.storage_bytes as bytes,
       (select coalesce(sum(r.size_bytes), 0)::bigint from files f
        join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
        where f.project_id = p.project_id) as counted_bytes,
       (select coalesce(array_agg(delivery_id order by delivery_id), '{}') from webhook_deliveries w
        where w.project_id = p.project_id and w.event = 'upload.ready') as events
     from projects p where p.project_id = (select project_id from uploads where upload_id = $1)`,
    [sessions[0]?.upload_id],
  );
  const ready = sessions.filter(({ status }) => status === 'ready');
  const live = sessions.filter(({ status }) =>
    ['created', 'uploaded', 'processing'].includes(status),
  );
  expect(row).toEqual({
    reserved: live.reduce((sum, { mode }) => sum + rightBytes(mode).length, 0),
    files: new Set(ready.map(({ file_slug }) => file_slug)).size,
    revisions: ready.length,
    ready: ready.length,
    bytes: row?.counted_bytes,
    counted_bytes: row?.counted_bytes,
    events: ready.map(({ upload_id }) => `upload.ready:${upload_id}`).toSorted(),
  });
}

const happening = (what: string) => must(happenings.find(({ name }) => name === what));

/** A whole upload: at random, few histories would reach a second revision or a kill. */
class Publish implements Command {
  readonly slug: string;
  readonly killed_at: KilledAt | null;
  constructor(slug: string, killed_at: KilledAt | null) {
    this.slug = slug;
    this.killed_at = killed_at;
  }
  check = (model: Readonly<Model>) =>
    model.sessions.length < 6 && (this.killed_at === null || mayKill(model));
  toString = () => `publish(${this.slug}, killed ${this.killed_at ?? 'never'})`;
  run = async (model: Model, real: Real) => {
    await new Create('proxy', 'right', this.slug).run(model, real);
    const happen = (what: string) =>
      new Happen(model.sessions.length - 1, happening(what)).run(model, real);
    await happen('PUT through the proxy');
    if (this.killed_at !== null) await happen(nameOfKill(this.killed_at));
    await work.run(model, real);
  };
}

const index = fc.nat(5);
const commands = fc.commands(
  [
    fc
      .tuple(
        fc.constantFrom<Mode>('direct', 'multipart', 'proxy'),
        fc.constantFrom<Digest>('none', 'right', 'other'),
        fc.constantFrom('a', 'b'),
      )
      .map(([mode, digest, slug]) => new Create(mode, digest, slug)),
    ...happenings.map((what) => index.map((at) => new Happen(at, what))),
    fc.constant(sweep),
    fc
      .tuple(fc.constantFrom('a', 'b'), fc.option(fc.constantFrom(...KILLS)))
      .map(([slug, killed_at]) => new Publish(slug, killed_at)),
    fc.constant(work),
    fc.constant(crash),
    fc.constant(restart),
  ],
  { maxCommands: COMMANDS_MAX, size: '+1' },
);

const stores = [
  [
    'folder storage',
    (): Pick<Real, 'buckets' | 'words'> => ({
      buckets: api.deps().buckets,
      words: { kind: 'folder', folder: dirname(api.ingestFolder()) },
    }),
  ],
  ['versitygw', (): Pick<Real, 'buckets' | 'words'> => must(s3)],
] as const;

describe.each(stores)('upload sessions on %s', { timeout: SERIES_MS_MAX }, (_name, findStore) => {
  it('follow the table of states in random histories of everything that can happen to them', async () => {
    const { buckets, words } = findStore();
    startApi(buckets);
    kills = 0;
    const history = fc.asyncProperty(commands, async (moves) => {
      await clock.release();
      const project = await createProject(owner);
      const key = await createKey(owner, project.project_slug, ['files:write', 'files:read']);
      // The URL is never called: only the recorded events count.
      await api.db.query(
        `update projects set callback_url = 'https://shop.example/hook', callback_secret_sealed = '\\x00'
           where project_id = $1`,
        [project.project_id],
      );
      const real = {
        call: api.withKey(key),
        path: `/v1/projects/${project.project_slug}/uploads`,
        buckets,
        words,
        sent: new Map<string, Sent>(),
      };
      await fc.asyncModelRun(() => ({ model: { sessions: [], crashes: 0 }, real }), moves);
      await clock.release();
      // Ends this history's sessions, so that they do not disturb the next one.
      await api.db.query(
        `update uploads set expires_at = now() - interval '1 hour', lease_until = null
           where project_id = $1 and status = 'created'`,
        [project.project_id],
      );
      await work.act({ sessions: [], crashes: 0 }, real);
    });
    await fc.assert(history, {
      numRuns: RUNS,
      examples: [[[new Publish('a', 'after commit 1')]]],
      interruptAfterTimeLimit: SERIES_MS_MAX - REPORT_MS,
      markInterruptAsFailure: true,
    });
    expect(kills).toBeGreaterThan(0);
  });
});
