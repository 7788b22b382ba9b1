// No stale image is served for longer than the lookup lifetime and the render deadline, even if a request refills the
// cache during a purge. Uses a real Varnish with the documented configuration, in front of two delivery servers with
// one database and one storage. Spec: Caching and response headers.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blockFile, unblockFile } from '../../../runtime/actions/block-file.ts';
import { changeProject } from '../../../runtime/actions/change-project.ts';
import { deleteFile } from '../../../runtime/actions/delete-file.ts';
import { publishFile } from '../../../runtime/actions/publish-file.ts';
import { LOOKUP_CACHE_SECONDS_MAX, RENDER_DEADLINE_SECONDS } from '../../../runtime/core/limits.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import { lockProject, type ProjectChanges, type ProjectRow } from '../../../runtime/db/projects.ts';
import { type PurgeContext, purgeQueue } from '../../../runtime/jobs/purge-queue.ts';
import { openCdn } from '../../../runtime/platform/cdn/open-cdn.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { parseConfig } from '../../../runtime/platform/config.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import type { Bucket } from '../../../runtime/platform/storage/bucket.ts';
import { useDatabase } from '../../support/database.ts';
import {
  makeKey,
  makeWatermark,
  publishImage,
  type StoredImage,
  signed,
} from '../../support/delivered.ts';
import {
  type Answer,
  ask,
  type DeliveryHost,
  ROOT_DOMAIN,
  startDeliveryHost,
} from '../../support/delivery-host.ts';
import { makeFolderBuckets } from '../../support/folder-buckets.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProcessing, makeProject, must, newRevision } from '../../support/rows.ts';
import { startVarnish, type Varnish } from '../../support/varnish-server.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const { content } = storage.buckets;
const gate = createGate(content);
const SECONDS = LOOKUP_CACHE_SECONDS_MAX + RENDER_DEADLINE_SECONDS;
const REFILLED = '/resize/40x30/f/hero';
const HELD = '/originals/f/hero';
const HELD_DERIVED = '/resize/60x45/f/hero';
const actor = { actor_kind: 'system' } as const;
let one: DeliveryHost;
let other: DeliveryHost;
let varnish: Varnish;
let queue: PurgeContext;
let picture: StoredImage;
let project: ProjectRow;
let file: FileRow;
let watermark: string;

beforeAll(async () => {
  one = await startDeliveryHost({ db, content: gate.bucket, worker_content: content });
  other = await startDeliveryHost({ db, content, queue: one.queue, wall_clock_ms: 0 });
  varnish = await startVarnish(one.port);
  const env = { TINTYPE_CDN: 'http-purge', TINTYPE_CDN_URL: varnish.url };
  const cdn = openCdn(parseConfig(env), systemClock);
  const log = createLog({ level: 'silent', name: 'test' });
  queue = { db, cdn, log, signal: new AbortController().signal };
  const bytes = await over(photograph(320, 240)).png().toBuffer();
  picture = { bytes, width: 320, height: 240, content_type: 'image/png' };
});
afterAll(async () => {
  await varnish.close();
  await other.stop();
  await one.close();
  storage.remove();
});
beforeEach(async () => {
  await db.query('delete from purges');
  project = await makeProject(db);
  const at = { db, content };
  file = await publishImage(at, project, { image: picture, file_slug: 'hero' });
  const logo = await publishImage(at, project, { image: picture, file_slug: 'logo' });
  watermark = await makeWatermark(db, project, logo);
});

/** A bucket whose reads wait after `hold` until `letGo`. */
function createGate(of: Bucket) {
  let held = Promise.resolve();
  let letGo = () => {};
  let waiting = 0;
  const pass = async () => {
    waiting += 1;
    await held;
    waiting -= 1;
  };
  async function* passing(stream: Readable) {
    await pass();
    yield* stream;
  }
  const bucket: Bucket = {
    ...of,
    open: async (...words) => {
      const stream = await of.open(...words);
      return stream && Readable.from(passing(stream));
    },
    read: async (key) => {
      await pass();
      return of.read(key);
    },
  };
  return {
    bucket,
    hold: () => {
      held = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    waiting: () => waiting,
    letGo: () => letGo(),
  };
}

const hostName = () => `${project.project_slug}.${ROOT_DOMAIN}`;
const direct = (server: DeliveryHost, path: string) => ask(server.port, hostName(), { path });
const throughVarnish = (server: DeliveryHost, path: string) => {
  varnish.use(server.port);
  return ask(varnish.port, hostName(), { path, headers: { connection: 'close' } });
};
const isHit = ({ headers }: Answer) => String(headers['x-varnish']).includes(' ');
/** What a viewer sees: the error code, or the identity of the image. */
const seen = ({ status, code, headers, body }: Answer) =>
  code ?? [status, headers['x-service-revision'], headers.etag, body.length].join(' ');

/** Lets time pass, for lookups and for pending purges. */
async function pass(seconds: number): Promise<void> {
  one.clock.advance(seconds);
  other.clock.advance(seconds);
  await db.query(
    'update purges set run_after = run_after - make_interval(secs => $1) where sent_at is null',
    [seconds],
  );
}

type Cause = { happens: () => Promise<unknown>; paths: [refilled: string, held: string] };

const change = (changes: ProjectChanges) =>
  db.transaction(async (tx) =>
    changeProject(tx, must(await lockProject(tx, project.project_id)), changes),
  );

const causes: Record<string, Cause> = {
  'a block': {
    happens: () =>
      db.transaction((tx) => {
        const { file_id } = file;
        return blockFile(tx, { file_id, blocked_by: 'staff', reason: 'x', actor });
      }),
    paths: [REFILLED, HELD],
  },
  'a delete': {
    happens: () => deleteFile(db, { ...file, actor }),
    paths: [REFILLED, HELD],
  },
  'a re-upload': { happens: reupload, paths: [REFILLED, HELD] },
  'a change of access': {
    happens: () => change({ delivery_access: 'protected' }),
    paths: [REFILLED, HELD],
  },
  'a change of the default watermark': {
    happens: () => change({ default_watermark_preset_id: watermark }),
    paths: [REFILLED, HELD_DERIVED],
  },
};

async function reupload(): Promise<void> {
  const bytes = await over(photograph(160, 120)).png().toBuffer();
  const upload = await makeProcessing(db, project, { file_slug: 'hero' });
  const { upload_id, attempt } = upload;
  const object_key = `${project.project_id}/${upload_id}/master`;
  await content.write(object_key, bytes, { content_type: 'image/png' });
  const facts = newRevision(upload, {
    object_key,
    size_bytes: bytes.length,
    width: 160,
    height: 120,
    mezzanines: [],
  });
  const publication = { upload_id, attempt, facts, taken_at: null, location: null };
  await publishFile({ db, clock: systemClock }, publication);
}

type Story = { before: string[]; refilled: string[]; after: string[]; truth: string[] };

/**
 * Makes the change and sends the first purge. Then two requests refill Varnish with the old image:
 * one through a server whose lookup is still fresh, and one that began before the change and was
 * held until the purge was sent. Finally, the time for the second purge comes.
 */
async function tell({ happens, paths }: Cause, second: 'sent' | 'off'): Promise<Story> {
  const [refilled, held] = paths;
  const look = async (server: DeliveryHost) => {
    const answers = [await throughVarnish(server, refilled), await throughVarnish(server, held)];
    return answers.map(seen);
  };
  const before = [await direct(other, refilled), await direct(other, held)].map(seen);
  await direct(one, refilled);
  expect(isHit(await throughVarnish(one, refilled))).toBe(false);
  expect(isHit(await throughVarnish(one, refilled))).toBe(true);

  gate.hold();
  const late = throughVarnish(one, held);
  try {
    await expect.poll(gate.waiting).toBeGreaterThan(0);
    await happens();
    expect(await purgeQueue(queue)).toEqual({ sent: 1, failed: 0 });
    expect(isHit(await throughVarnish(other, refilled))).toBe(false);
  } finally {
    gate.letGo();
  }
  expect(isHit(await late)).toBe(false);
  const stale = await look(one);

  await pass(SECONDS);
  if (second === 'sent') expect(await purgeQueue(queue)).toEqual({ sent: 1, failed: 0 });
  const after = [...(await look(other)), ...(await look(one))];
  const truth = [await direct(other, refilled), await direct(one, held)].map(seen);
  return { before, refilled: stale, after, truth };
}

describe('Varnish after the lookup lifetime and the render deadline', () => {
  for (const [name, cause] of Object.entries(causes)) {
    it(`serves nothing stale after ${name}, even if stale refills overtook the first purge`, async () => {
      const { before, refilled, after, truth } = await tell(cause, 'sent');
      expect(refilled).toEqual(before);
      expect(truth.every((each, at) => each !== before[at])).toBe(true);
      expect(after).toEqual([...truth, ...truth]);
    });

    it(`keeps serving the old response after ${name} if the second purge is not sent`, async () => {
      const { before, refilled, after } = await tell(cause, 'off');
      expect(refilled).toEqual(before);
      expect(after).toEqual([...before, ...before]);
    });
  }
});

describe('the s-maxage of an image that storage delivers late', () => {
  const FOR_GOOD = 'public, max-age=300, s-maxage=31536000';
  const PATHS = [HELD, HELD_DERIVED];

  /** The cache headers of a response whose bytes arrive `seconds` after the request. */
  async function keptAfter(path: string, seconds: number): Promise<string | undefined> {
    gate.hold();
    const answer = direct(one, path);
    try {
      await expect.poll(gate.waiting).toBeGreaterThan(0);
      one.clock.advance(seconds);
    } finally {
      gate.letGo();
    }
    return (await answer).headers['cache-control'];
  }

  it.each(PATHS)('is a year if the second purge is still to come (%s)', async (path) => {
    await direct(one, REFILLED);
    one.clock.advance(LOOKUP_CACHE_SECONDS_MAX - 1);
    expect(await keptAfter(path, RENDER_DEADLINE_SECONDS - 4)).toBe(FOR_GOOD);
  });

  it.each(PATHS)(
    'is the time that the lookup may still be served if the second purge may be over (%s)',
    async (path) => {
      await direct(one, REFILLED);
      one.clock.advance(LOOKUP_CACHE_SECONDS_MAX - 1);
      expect(await keptAfter(path, 26)).toBe('public, max-age=245, s-maxage=245');
    },
  );

  it.each(PATHS)(
    'is the time that its signed URL has left when it is delivered (%s)',
    async (path) => {
      const key = await makeKey(db, project);
      const exp = Math.floor(Date.now() / 1000) + 100;
      const kept = await keptAfter(signed(path, { project, key, exp }), 40);
      const seconds = Number(
        /^public, max-age=0, must-revalidate, s-maxage=(\d+)$/.exec(`${kept}`)?.[1],
      );
      expect(seconds).toBeLessThanOrEqual(60);
      expect(seconds).toBeGreaterThan(30);
    },
  );

  it.each(PATHS)('is zero if its signed URL has expired meanwhile (%s)', async (path) => {
    const key = await makeKey(db, project);
    const exp = Math.floor(Date.now() / 1000) + 100;
    const kept = await keptAfter(signed(path, { project, key, exp }), 101);
    expect(kept).toBe('public, max-age=0, must-revalidate, s-maxage=0');
  });
});

describe('Varnish with the documented configuration', () => {
  const purgeNow = async () => {
    await purgeQueue(queue);
  };

  it('serves an unblocked file again once the lookups have expired', async () => {
    const block = must(causes['a block']);
    await block.happens();
    expect((await throughVarnish(one, HELD)).code).toBe('file_blocked');
    const { file_id } = file;
    await db.transaction((tx) => unblockFile(tx, { file_id, actor }));
    await pass(LOOKUP_CACHE_SECONDS_MAX);
    expect((await throughVarnish(one, HELD)).status).toBe(200);
  });

  it('purges one file, but no other file of its project and no other project', async () => {
    const neighbour = await makeProject(db);
    const at = { db, content };
    await publishImage(at, neighbour, { image: picture, file_slug: 'hero' });
    const theirs = () =>
      ask(varnish.port, `${neighbour.project_slug}.${ROOT_DOMAIN}`, { path: HELD });
    varnish.use(one.port);
    for (const get of [theirs, () => throughVarnish(one, '/originals/f/logo')]) await get();
    await throughVarnish(one, HELD);
    await deleteFile(db, { ...file, actor });
    await purgeNow();
    expect(isHit(await theirs())).toBe(true);
    expect(isHit(await throughVarnish(one, '/originals/f/logo'))).toBe(true);
    expect(isHit(await throughVarnish(one, HELD))).toBe(false);
  });

  it('passes on max-age without Age and tags, and answers 304 from its own copy', async () => {
    const first = await throughVarnish(one, HELD);
    const second = await throughVarnish(one, HELD);
    for (const { headers } of [first, second]) {
      expect(headers['cache-control']).toBe('public, max-age=300, s-maxage=31536000');
      for (const name of ['age', 'surrogate-key', 'cache-tag']) {
        expect(headers[name]).toBeUndefined();
      }
    }
    const known = { 'if-none-match': String(first.headers.etag) };
    const again = await ask(varnish.port, hostName(), { path: HELD, headers: known });
    expect([again.status, isHit(again)]).toEqual([304, true]);
  });

  it('caches no refusal, and keeps one copy whatever headers the client sends', async () => {
    for (const _ of [1, 2]) {
      const refused = await throughVarnish(one, '/originals/f/nothing');
      expect([refused.code, isHit(refused)]).toEqual(['not_found', false]);
    }
    await throughVarnish(one, HELD);
    const headers = {
      cookie: 'a=b',
      authorization: 'Bearer x',
      accept: 'image/webp',
      range: 'bytes=0-9',
    };
    const part = await ask(varnish.port, hostName(), { path: HELD, headers });
    expect([part.status, part.body.length, isHit(part)]).toEqual([206, 10, true]);
  });

  it('caches an image of a signed URL until the URL expires, and no longer', async () => {
    const key = await makeKey(db, project);
    // Expiry is judged by the database's clock, which is that of this machine.
    const exp = Math.floor(Date.now() / 1000) + 5;
    const url = signed(HELD, { project, key, exp });
    expect(isHit(await throughVarnish(one, url))).toBe(false);
    const kept = await throughVarnish(one, url);
    expect([kept.status, isHit(kept)]).toEqual([200, true]);
    one.clock.advance(5);
    const seenNow = async () => (await throughVarnish(one, url)).code;
    await expect.poll(seenNow, { timeout: 20_000 }).toBe('signature_expired');
    expect((await throughVarnish(one, HELD)).status).toBe(200);
  });

  it('accepts a BAN with well-formed tags only, and no expression', async () => {
    const ban = (tags: string) =>
      ask(varnish.port, 'any', { path: '/', method: 'BAN', headers: { 'surrogate-key': tags } });
    expect((await ban('prj_a file_b')).status).toBe(200);
    for (const tags of ['', '.*', 'a|b', 'a) || (obj.http.x ~ b', 'a  b', 'A']) {
      expect((await ban(tags)).status, tags).toBe(400);
    }
  });

  it('passes the CDN check of doctor', async () => {
    expect(await queue.cdn.check(queue.signal)).toEqual({ says: 'the cache accepts BAN requests' });
  });
});
