import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type Queryable } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { type Meter, startMeter } from '../../../runtime/delivery/meter.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { useDatabase } from '../../support/database.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { makeProject } from '../../support/rows.ts';
import { startFaultProxy } from '../../support/tcp-fault-proxy.ts';

const { db, url } = useDatabase();
let folder: string;
let project: ProjectRow;
let clock: ManualClock;
let lost: number;
let unspooled: number;
let lines: string[];
const meters: Meter[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-spool-'));
  project = await makeProject(db);
  clock = createManualClock();
  lost = 0;
  unspooled = 0;
  lines = [];
});
afterEach(async () => {
  for (const meter of meters.splice(0)) await meter.stop();
  rmSync(folder, { recursive: true, force: true });
});

function start(changes: { db?: Queryable; usage_patience_ms?: number } = {}): Meter {
  const meter = startMeter(folder, {
    db,
    clock,
    log: createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics: {
      usageUnspooled: () => {
        unspooled += 1;
      },
      usageLost: () => {
        lost += 1;
      },
    },
    ...changes,
  });
  meters.push(meter);
  return meter;
}

const delivery = (bytes = 10) => ({
  at: clock.now().getTime(),
  project_id: project.project_id,
  bytes,
  kind: 'derived' as const,
  is_watermarked: false,
});

type Usage = {
  window_start: Date;
  requests: number;
  bytes: number;
  transforms: number;
  credits: number;
};

/** Usage by hour, oldest first. */
async function usage(): Promise<Usage[]> {
  return db.query(
    `select window_start, sum(requests)::int as requests, sum(bytes)::int as bytes,
       sum(transforms)::int as transforms, sum(credits)::int as credits
     from usage_batch_rows where project_id = $1 group by window_start order by window_start`,
    [project.project_id],
  );
}
/** The numbers of lost deliveries that the project's batches report, in order. */
const reported = async () => {
  const rows = await db.query<{ lost_deliveries: number }>(
    `select lost_deliveries from usage_batches where batch_id in
       (select batch_id from usage_batch_rows where project_id = $1) order by sequence`,
    [project.project_id],
  );
  return rows.map((row) => row.lost_deliveries);
};
const requests = async () => (await usage()).reduce((sum, hour) => sum + hour.requests, 0);
const files = () =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.includes('.ndjson'));

describe('metering', () => {
  it('sums deliveries by the hour in which they ended', async () => {
    const meter = start();
    const hour = new Date(Math.ceil(clock.now().getTime() / 3_600_000) * 3_600_000);
    clock.advance((hour.getTime() - clock.now().getTime()) / 1000 - 0.001);
    meter.record(delivery(1_048_576));
    clock.advance(0.001);
    meter.record(delivery(1_048_577));
    meter.record({ ...delivery(0), kind: 'originals' });
    await meter.flush();
    expect(await usage()).toEqual([
      {
        window_start: new Date(hour.getTime() - 3_600_000),
        requests: 1,
        bytes: 1_048_576,
        transforms: 1,
        credits: 1,
      },
      { window_start: hour, requests: 2, bytes: 1_048_577, transforms: 1, credits: 3 },
    ]);
    expect(files()).toEqual([]);
  });

  it('flushes by itself', async () => {
    start().record(delivery());
    await expect.poll(requests).toBe(1);
  });

  it('sends no batch if nothing was delivered', async () => {
    const before = await db.query('select * from usage_batches');
    await start().flush();
    expect(await db.query('select * from usage_batches')).toEqual(before);
  });

  it('numbers its batches consecutively under one spool id', async () => {
    const meter = start();
    for (let count = 0; count < 3; count += 1) {
      meter.record(delivery());
      await meter.flush();
    }
    const batches = await db.query<{ spool_id: string; sequence: number }>(
      `select distinct spool_id, sequence from usage_batches join usage_batch_rows using (batch_id)
       where project_id = $1 order by sequence`,
      [project.project_id],
    );
    expect(batches.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(new Set(batches.map(({ spool_id }) => spool_id)).size).toBe(1);
    expect(batches[0]?.spool_id).toMatch(/^spl_[0-9a-z]{26}$/);
  });

  it('counts a batch once if it is resent after a lost response', async () => {
    const target = new URL(url());
    const proxy = await startFaultProxy({ port: Number(target.port) });
    target.port = String(proxy.port);
    const through = createDatabase({
      url: target.href,
      connectTimeoutMs: 1500,
      queryTimeoutMs: 1500,
    });
    await through.query('select 1');
    const meter = start({ db: through });
    meter.record(delivery());
    meter.record(delivery());
    proxy.set({ kind: 'drop_response' });
    await meter.flush();
    await expect.poll(requests).toBe(2);
    expect(files().length).toBe(1);
    proxy.set({ kind: 'none' });
    meter.record(delivery());
    await meter.flush();
    expect(await requests()).toBe(3);
    expect(files()).toEqual([]);
    await meter.stop();
    await through.close();
    await proxy.close();
  });

  it('keeps spooled usage while the database is away, and sends all of it in order afterwards', async () => {
    const closed = createDatabase({ url: url() });
    const meter = start({ db: closed });
    await closed.close();
    for (const bytes of [1, 2, 3, 4]) {
      meter.record(delivery(bytes));
      await meter.flush();
    }
    await meter.stop();
    meters.length = 0;
    expect(await requests()).toBe(0);
    const next = start();
    await next.flush();
    const taken = await db.query(
      'select bytes::int from usage_batch_rows where project_id = $1 order by batch_id',
      [project.project_id],
    );
    expect(taken).toEqual([1, 2, 3, 4].map((bytes) => ({ bytes })));
    expect(files()).toEqual([]);
  });

  it('sets aside a batch that the database rejects for good, and sends the others', async () => {
    const meter = start();
    meter.record({ ...delivery(), project_id: 'prj_nobody' });
    await meter.flush();
    meter.record(delivery());
    await meter.flush();
    expect(await requests()).toBe(1);
    expect(files()).toEqual([expect.stringMatching(/^spl_\w+\/0000000001\.ndjson\.rejected$/)]);
    expect(lines.filter((line) => line.includes('set aside')).length).toBe(1);
  });

  it('flushes when it stops', async () => {
    const meter = start();
    meter.record(delivery());
    await meter.stop();
    expect(await requests()).toBe(1);
  });

  it('also sends, when it stops, what was recorded during the last flush', async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: Queryable = {
      query: async (text, values) => {
        begun.resolve();
        await goOn.promise;
        return db.query(text, values);
      },
    };
    const meter = start({ db: slow });
    meter.record(delivery());
    await begun.promise;
    meter.record(delivery());
    const stopped = meter.stop();
    goOn.resolve();
    await stopped;
    expect(await requests()).toBe(2);
  });

  it('waits, when it stops, for a database that is away', async () => {
    let tries = 0;
    const late: Queryable = {
      query: (text, values) => {
        tries += 1;
        return tries < 3 ? Promise.reject(new Error('away')) : db.query(text, values);
      },
    };
    const meter = start({ db: late, usage_patience_ms: 60_000 });
    meter.record(delivery());
    await meter.stop();
    expect(await requests()).toBe(1);
    expect(lines.join('')).not.toContain('stays in the spool');
  });

  it('logs, when it stops, how many deliveries it could not send', async () => {
    const away: Queryable = { query: () => Promise.reject(new Error('away')) };
    const meter = start({ db: away, usage_patience_ms: 10 });
    for (let count = 0; count < 3; count += 1) meter.record(delivery());
    await meter.stop();
    const [line] = lines.filter((each) => each.includes('stays in the spool'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'error',
      counts: { deliveries: 3 },
      folder,
    });
  });

  it('logs as lost, when it stops, the deliveries that no disk took', async () => {
    const away: Queryable = { query: () => Promise.reject(new Error('away')) };
    const meter = start({ db: away, usage_patience_ms: 10 });
    meter.record(delivery());
    await meter.flush();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    for (let count = 0; count < 3; count += 1) meter.record(delivery());
    await meter.stop();
    const [line] = lines.filter((each) => each.includes('and is lost'));
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 'error', counts: { deliveries: 3 } });
    expect(lines.join('')).not.toContain('stays in the spool');
    expect(lost).toBe(3);
    rmSync(folder);
  });

  it('sends everything when it stops if the disk failed but the database is back', async () => {
    let isAway = true;
    const late: Queryable = {
      query: (text, values) =>
        isAway ? Promise.reject(new Error('away')) : db.query(text, values),
    };
    const meter = start({ db: late });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    meter.record(delivery());
    await meter.flush();
    for (let count = 0; count < 5; count += 1) meter.record(delivery());
    isAway = false;
    await meter.stop();
    expect(await requests()).toBe(6);
    rmSync(folder);
  });

  it('keeps deliveries in memory if the disk fails, until the database has them', async () => {
    const meter = start();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    meter.record(delivery());
    meter.record(delivery());
    await meter.flush();
    expect([unspooled, lost]).toEqual([2, 0]);
    expect(lines.filter((line) => line.includes('could not be spooled')).length).toBe(1);
    expect(await requests()).toBe(2);
    rmSync(folder);
    meter.record(delivery());
    await meter.flush();
    expect(await requests()).toBe(3);
    expect(await reported()).toEqual([0, 0]);
  });

  it('counts deliveries in memory once if the response of the database was lost', async () => {
    let isDeaf = true;
    const deaf: Queryable = {
      query: async (text, values) => {
        const rows = await db.query(text, values);
        if (isDeaf) throw new Error('the answer was lost');
        return rows as never;
      },
    };
    const meter = start({ db: deaf });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    meter.record(delivery());
    await meter.flush();
    meter.record(delivery());
    isDeaf = false;
    await meter.flush();
    await meter.flush();
    expect(await requests()).toBe(2);
    expect([unspooled, lost]).toEqual([2, 0]);
    rmSync(folder);
  });
});

describe('a killed delivery process', () => {
  it('loses no spooled usage: the next process sends it exactly once', async () => {
    const said = await runAndKill();
    const child = await requests();
    const next = start();
    await next.flush();
    const counted = await requests();
    expect(counted).toBeGreaterThanOrEqual(said);
    expect(counted).toBeGreaterThanOrEqual(child);
    expect(files()).toEqual([]);
    await next.flush();
    expect(await requests()).toBe(counted);
  });

  it('leaves no gap in the numbers if it was killed in the first line of a segment', async () => {
    const dead = join(folder, 'dead');
    mkdirSync(dead, { recursive: true });
    writeFileSync(join(dead, '0000000001.ndjson'), '{"at":');
    writeFileSync(join(dead, '0000000002.ndjson'), `${JSON.stringify(delivery())}\n`);
    await start().flush();
    expect(await requests()).toBe(1);
    expect(
      await db.query(
        `select sequence from usage_batches where spool_id = 'dead' order by sequence`,
      ),
    ).toEqual([{ sequence: 1 }, { sequence: 2 }]);
  });

  it('leaves neither gaps nor duplicates after being killed repeatedly', async () => {
    const said = [await runAndKill(), await runAndKill()];
    const left = files().length;
    expect(left).toBeGreaterThanOrEqual(1);
    await start().flush();
    const counted = await requests();
    const total = said.reduce((sum, count) => sum + count, 0);
    expect(counted).toBeGreaterThanOrEqual(total);
    // At most what each child recorded after its last report; it reports every 50 deliveries.
    expect(counted).toBeLessThan(total + 200 * said.length);
  });
});

/**
 * Kills the child while it flushes. Returns the number of deliveries that it reported as spooled.
 */
async function runAndKill(): Promise<number> {
  const script = new URL('../../support/meter-writer.ts', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [script, folder, url(), project.project_id], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    const counts = chunk
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
    said = Math.max(said, ...counts);
  });
  const exited = once(child, 'close');
  // After its first flush, there are batches in the database and lines on disk.
  const before = await requests();
  await expect.poll(requests).toBeGreaterThan(before);
  child.kill('SIGKILL');
  await exited;
  return said;
}
