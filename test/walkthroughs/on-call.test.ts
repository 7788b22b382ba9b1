// Runs docs/walkthroughs/on-call.md: causes each fault on real processes and servers, types the commands, and has
// promtool evaluate the alerts on the metrics of the processes. Each scrape counts as half a minute.
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { put } from '../contract/support/client.ts';
import { isRunning } from '../contract/support/processes.ts';
import { launcher, runTintype } from '../contract/support/tintype.ts';
import { readMoney } from '../fault/support/money.ts';
import { fillDisk } from '../support/fill-disk.ts';
import { over, photograph } from '../support/pictures.ts';
import { type Night, PROJECT, startNight } from './support/night.ts';
import { AWAY, type Chapter, readChapters, showsAs, type } from './support/page.ts';
import { LOOK_SECONDS, type Tape } from './support/tape.ts';

const chapters = readChapters('docs/walkthroughs/on-call.md');
const soon = { timeout: 20_000, interval: 50 };
const MINUTE = 60 / LOOK_SECONDS;
let night: Night;

vi.setConfig({ testTimeout: 60_000 });
let bytes: Buffer;

beforeAll(async () => {
  bytes = await over(photograph(320, 240)).jpeg().toBuffer();
  night = await startNight();
}, 300_000);
afterEach(() => {
  night.database.set({ kind: 'none' });
  night.storage.set(undefined);
  night.deployment.cdn.answer(() => ({ status: 200 }));
});
afterAll(() => night?.stop());

const picture = (file_slug: string) => ({ bytes, content_type: 'image/jpeg', file_slug });
const upload = (slug: string) => night.upload(picture(slug));
const view = (path: string) => night.view(path);
const api = async () => {
  const { status, body } = await night.key('GET', `/v1/projects/${PROJECT}`);
  return body?.error?.code === undefined ? status : `${status} ${body.error.code}`;
};

async function job(name: string): Promise<void> {
  const { env } = night.deployment;
  const { code, stderr } = await runTintype(['job', name], { env, cwd: AWAY });
  if (code !== 0) throw new Error(stderr);
}

/** Waits until no accepted upload is in progress, and returns how each ended. */
async function untilEnded(): Promise<string[]> {
  const ends = () =>
    night.db.query<{ status: string; end: string }>(
      `select status, concat_ws(' ', status, error_code) as end from uploads
       where upload_id = any($1) order by array_position($1, upload_id)`,
      [night.books.uploads],
    );
  const underWay = async () =>
    (await ends()).filter(({ status }) => !['ready', 'failed'].includes(status)).length;
  await expect.poll(underWay, soon).toBe(0);
  return (await ends()).map(({ end }) => end);
}

/** Scrapes `count` times, each time after `meanwhile`. */
async function looks(tape: Tape, count: number, meanwhile = async () => {}): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await meanwhile();
    await night.look(tape);
  }
}

/** Starts a tape with a minute without faults. */
async function quietTape(): Promise<Tape> {
  const tape = night.newTape();
  await looks(tape, 2, async () => void (await api()));
  return tape;
}

const rung = (tape: Tape, alerts: readonly string[], until = tape.length() - 1) =>
  tape.expectAlerts(alerts, until);

/** Chapters that no test has read yet. */
const unread = new Set(chapters.keys());

function chapter(title: string): Chapter {
  const found = chapters.get(title);
  unread.delete(title);
  if (found === undefined) throw new Error(`no chapter is called ${title}`);
  return found;
}

async function typeAll({ typed }: Chapter, more: Record<string, string> = {}): Promise<void> {
  const env = { ...process.env, ...night.deployment.env, ...night.watched(), ...more };
  const tintype = `tintype() { '${process.execPath}' '${launcher}' "$@"; }`;
  for (const { commands, seen } of typed) {
    expect(await type(`${tintype}\n${commands}`, env), commands).toMatch(showsAs(seen));
  }
}

describe('a night on call', { shuffle: false }, () => {
  it('the evening before, an upload becomes ready and is delivered', async () => {
    await job('upload-sweep');
    await upload('known.jpg');
    expect(await untilEnded()).toEqual(['ready']);
    expect(await view('/originals/f/known.jpg')).toBe(200);
    expect(await view('/resize/100x/f/known.jpg')).toBe(200);
  });

  describe('PostgreSQL is away for five minutes', () => {
    const page = chapter('PostgreSQL is away for five minutes');

    it('fires the documented alerts; known pictures are still delivered, and uploads finish later', async () => {
      const tape = await quietTape();
      await upload('under-way.jpg');
      night.database.set({ kind: 'refuse' });
      night.database.cut();
      const second = async () => {
        expect(await api()).toBe('503 storage_unavailable');
        expect(await view('/originals/f/known.jpg')).toBe(200);
        expect(await view('/resize/100x/f/known.jpg')).toBe(200);
        expect(await view('/originals/f/unknown.jpg')).toBe(503);
      };
      const eachSecond = async () => {
        await Promise.all(Array.from({ length: LOOK_SECONDS }, second));
      };
      await looks(tape, 5 * MINUTE, eachSecond);
      await typeAll(page);
      night.database.set({ kind: 'none' });
      await expect.poll(api, soon).toBe(200);
      await looks(tape, MINUTE);
      const [first = ''] = page.rings;
      await rung(tape, [], 2 + 2 * MINUTE - 1);
      await rung(tape, [first], 2 + 2 * MINUTE);
      await rung(tape, page.rings);
      await night.db.query(`update uploads set lease_until = now() where status = 'processing'`);
      expect(await untilEnded()).toEqual(['ready', 'ready']);
    });
  });

  describe('The broker is purged', () => {
    const page = chapter('The broker is purged');

    it('fires no alert, as documented; the worker finds the uploads in the database', async () => {
      const tape = await quietTape();
      const { pid } = night.deployment.processes.worker;
      process.kill(pid, 'SIGSTOP');
      try {
        await Promise.all([1, 2, 3].map((at) => upload(`unheard-${at}.jpg`)));
        const connection = await connect(night.deployment.servers.broker.url);
        const channel = await connection.createChannel();
        await channel.purgeQueue('tintype.ingest.doorbells');
        await connection.close();
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await typeAll(page);
      await looks(tape, MINUTE);
      await untilEnded();
      await rung(tape, page.rings);
    });
  });

  describe('A bucket only reads', () => {
    const page = chapter('A bucket only reads');

    it('fires the documented alerts; pictures are still delivered, and accepted uploads finish later', async () => {
      const tape = night.newTape({ withSampling: true });
      const uploads = `/v1/projects/${PROJECT}/uploads`;
      const { content_type } = picture('');
      const input = { content_type, size_bytes: bytes.length, file_slug: 'taken.jpg' };
      const { upload_id, direct } = (await night.key('POST', uploads, input)).body;
      await put(direct.put_url, direct.headers, bytes);
      await job('status-sampling');
      await looks(tape, MINUTE);
      night.storage.set({ operation: 'put', kind: 'status_403' });
      await expect(upload('refused.jpg')).rejects.toThrow('not stored: 403');
      const completed = await night.key('POST', `${uploads}/${upload_id}/complete`);
      expect(completed.status).toBe(200);
      night.books.uploads.push(upload_id);
      expect(await view('/resize/77x/f/known.jpg')).toBe(200);
      await typeAll(page);
      await looks(tape, 4 * MINUTE);
      const [first = ''] = page.rings;
      await rung(tape, [first]);
      await night.db.query(
        `update uploads set uploaded_at = now() - interval '301 seconds' where upload_id = $1`,
        [upload_id],
      );
      await looks(tape, 5 * MINUTE + 1, async () => {
        expect(await view('/originals/f/known.jpg')).toBe(200);
      });
      await rung(tape, page.rings);
      night.storage.set(undefined);
      await night.db.query(`update uploads set lease_until = now() where status = 'processing'`);
      expect(new Set(await untilEnded())).toEqual(new Set(['ready']));
    });
  });

  // A separate mount namespace, so that the disk is unmounted with the process. `$0` is the mount
  // point, the other arguments are the command.
  const ON_SMALL_DISK = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"';

  describe('A full disk', () => {
    const page = chapter('A full disk');

    it('fires the documented alerts; every picture is delivered, and no usage is lost', async () => {
      const spool = join(dirname(night.deployment.env['TINTYPE_SPOOL_DIR'] ?? ''), 'small');
      mkdirSync(spool);
      const inside = ['unshare', '--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, spool];
      await night.restart('delivery', { env: { TINTYPE_SPOOL_DIR: spool }, inside });
      const tape = await quietTape();
      const { pid } = night.deployment.processes.delivery;
      const ballast = join(`/proc/${pid}/root`, spool, 'ballast');
      fillDisk(ballast);
      for (let count = 0; count < 5; count += 1) {
        expect(await view('/originals/f/known.jpg')).toBe(200);
      }
      await night.look(tape);
      await typeAll(page);
      await rung(tape, page.rings);
      rmSync(ballast);
      await night.restart('delivery');
    });
  });

  describe('The disk of PostgreSQL is full', () => {
    const page = chapter('The disk of PostgreSQL is full');

    it('fires the documented alert; reads and deliveries go on, and writes do once there is room', async () => {
      const tape = await quietTape();
      // The log has begun a segment, with room for what is written meanwhile: without, PostgreSQL ends.
      await night.db.query('select pg_switch_wal()');
      await night.db.query('checkpoint');
      night.disk.fill();
      const input = { content_type: 'image/jpeg', size_bytes: 1, file_slug: 'no-room.jpg' };
      const create = async () =>
        (await night.key('POST', `/v1/projects/${PROJECT}/uploads`, input)).body?.error?.code;
      await expect.poll(create, soon).toBe('storage_unavailable');
      await looks(tape, 2 * MINUTE, async () => {
        expect(await api()).toBe(200);
        expect(await view('/originals/f/known.jpg')).toBe(200);
        expect(await view('/resize/100x/f/known.jpg')).toBe(200);
      });
      await rung(tape, []);
      await typeAll(page);
      const ready = await fetch(`${night.watched()['API']}/readyz`);
      expect(ready.status).toBe(200);
      await looks(tape, 1);
      await rung(tape, page.rings);
      night.disk.empty();
      await upload('room-again.jpg');
      const metrics = await (await fetch(`${night.watched()['API']}/metrics`)).text();
      expect(metrics).toContain('tintype_dependency_ready{dependency="database"} 1');
      expect((await untilEnded()).at(-1)).toBe('ready');
    });
  });

  describe('A worker dies on one picture', () => {
    const page = chapter('A worker dies on one picture');
    const TWO_SLOTS = { TINTYPE_INGEST_SLOTS: '2' };
    const DEADLY = { ...TWO_SLOTS, TINTYPE_FAILPOINT: 'ingest.opened' };
    const untilDead = () =>
      expect.poll(() => isRunning(night.deployment.processes.worker.pid), soon).toBe(false);
    const setLease = (uploads: readonly string[], until: string) =>
      night.db.query(`update uploads set lease_until = ${until} where upload_id = any($1)`, [
        uploads,
      ]);

    it('fires the documented alerts; the upload fails with processing_abandoned, and the one beside it is ready', async () => {
      await night.restart('worker', { env: TWO_SLOTS });
      const tape = await quietTape();
      const bucket = night.deployment.env['TINTYPE_INGEST_BUCKET'];
      night.storage.set({ operation: 'get', kind: 'silence', ...(bucket && { bucket }) });
      const deadly = await upload('deadly.jpg');
      const innocent = await upload('innocent.jpg');
      const inHand = () =>
        night.db.query(`select upload_id from uploads where status = 'processing'`);
      await expect.poll(inHand, soon).toHaveLength(2);
      process.kill(night.deployment.processes.worker.pid, 'SIGKILL');
      await untilDead();
      night.storage.set(undefined);
      await setLease([deadly, innocent], `now() + interval '1 hour'`);
      await looks(tape, 1);
      await night.restart('worker', { env: DEADLY });
      await looks(tape, 1);
      await setLease([deadly], 'now()');
      await untilDead();
      await setLease([deadly], `now() + interval '1 hour'`);
      await looks(tape, 1);
      await rung(tape, []);
      // Skips three more deaths: an upload is abandoned after five.
      await night.db.query('update uploads set attempt = 5 where upload_id = $1', [deadly]);
      await setLease([deadly, innocent], 'now()');
      await night.restart('worker', { env: TWO_SLOTS });
      await looks(tape, MINUTE);
      await rung(tape, page.rings);
      expect((await untilEnded()).slice(-2)).toEqual(['failed processing_abandoned', 'ready']);
      await typeAll(page, { UPLOAD: deadly, KEY: night.api_key });
    });
  });

  describe('The CDN refuses purges', () => {
    const page = chapter('The CDN refuses purges');
    const unsent = () =>
      night.db.query<{ attempt: number }>('select attempt from purges where sent_at is null');
    /** Makes all waiting purges due. */
    const purgeNow = () =>
      night.db.query('update purges set run_after = now() where sent_at is null');

    /** Ages waiting purges by the interval of a scrape, because the test scrapes faster. */
    const grow = async () =>
      void (await night.db.query(
        'update purges set created_at = created_at - make_interval(secs => $1) where sent_at is null',
        [LOOK_SECONDS],
      ));

    const untilTaken = async () => {
      await purgeNow();
      await expect.poll(async () => (await unsent()).length, soon).toBe(0);
    };
    const remove = async (slug: string) => {
      const { status } = await night.key('DELETE', `/v1/projects/${PROJECT}/files/${slug}`);
      expect(status).toBe(204);
    };

    it('fires the documented alerts if a purge waits for 15 minutes, and sends every purge later', async () => {
      const { cdn } = night.deployment;
      const tape = await quietTape();
      await upload('taken.jpg');
      await untilEnded();
      await remove('taken.jpg');
      await untilTaken();
      await looks(tape, 2);
      cdn.answer(() => ({ status: 403 }));
      await remove('under-way.jpg');
      for (const attempts of [1, 2, 3]) {
        await purgeNow();
        const tried = async () => (await unsent()).every(({ attempt }) => attempt >= attempts);
        await expect.poll(tried, soon).toBe(true);
        await looks(tape, 7 * MINUTE, grow);
        await rung(tape, attempts < 3 ? [] : page.rings);
      }
      await typeAll(page);
      cdn.answer(() => ({ status: 200 }));
      await untilTaken();
    });
  });

  describe('A clock is two minutes wrong', () => {
    const page = chapter('A clock is two minutes wrong');
    const WRONG = new URL('./support/wrong-clock.ts', import.meta.url).href;

    it('fires the documented alerts, and signed URLs work even if they are short-lived', async () => {
      const env = { NODE_OPTIONS: `--import=${WRONG}`, CLOCK_LEAD_MS: '120000' };
      await night.restart('delivery', { env });
      const tape = await quietTape();
      const signed = async (expires_in_seconds: number) => {
        const input = {
          file_slug: 'known.jpg',
          transform_chain: 'resize/100x',
          expires_in_seconds,
        };
        const { url } = (await night.key('POST', `/v1/projects/${PROJECT}/signed-url`, input)).body;
        const { pathname, search } = new URL(url);
        return `${pathname}${search}`;
      };
      for (const seconds of [60, 600]) expect(await view(await signed(seconds))).toBe(200);
      expect(await view('/originals/f/known.jpg')).toBe(200);
      await looks(tape, 5 * MINUTE);
      await typeAll(page);
      await rung(tape, page.rings);
      await night.restart('delivery');
    });
  });

  describe('The next morning', () => {
    it('every upload has ended, and every delivery was charged once', async () => {
      expect(new Set(await untilEnded())).toEqual(
        new Set(['ready', 'failed processing_abandoned']),
      );
      const revisions = await night.db.query(
        'select upload_id from file_revisions group by 1 having count(*) > 1',
      );
      expect(revisions).toEqual([]);
      const { deliveries } = night.books;
      const spooled = async () => {
        const [row] = await night.db.query<{ requests: number }>(
          'select coalesce(sum(requests), 0)::int as requests from usage_batch_rows',
        );
        return row?.requests;
      };
      await expect.poll(spooled, soon).toBe(deliveries);
      await typeAll(chapter('The next morning'));
      expect([...unread]).toEqual([]);
      // Each delivery of these small images costs one credit.
      const { hours, charged } = await readMoney(night.db);
      expect([hours.requests, charged]).toEqual([deliveries, deliveries]);
    });
  });
});
