// Reads of derived images are recorded once a day, without delaying viewers; the sweep keeps images that were read.
// Spec: Delivery host.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Queryable } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { startDerivedReads } from '../../../runtime/delivery/derived-reads.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage, type StoredImage } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const silent = createLog({ level: 'silent', name: 'test' });
const DAY_SECONDS = 24 * 3600;
const PATH = '/resize/30x20/f/cat';
const statements: string[] = [];
let isAway = false;
const counted: Queryable = {
  query: async (text, values) => {
    if (text.includes('derived_reads')) {
      statements.push(text);
      if (isAway) throw new Error('the database is away');
    }
    return db.query(text, values);
  },
};
let image: StoredImage;
let project: ProjectRow;
let host: DeliveryHost;

beforeAll(async () => {
  const bytes = await over(photograph(60, 40)).png().toBuffer();
  image = { bytes, width: 60, height: 40, content_type: 'image/png' };
});
beforeEach(async () => {
  isAway = false;
  host = await startDeliveryHost({ db: counted });
  project = await makeProject(db);
  await publishImage({ db, content: host.content }, project, { image, file_slug: 'cat' });
  await db.query('delete from derived_reads');
  statements.length = 0;
});
afterEach(() => host.close());

const get = async () => (await host.get(project.project_slug, PATH)).status;
const reads = () =>
  db.query<{ derived_key: string; day: string }>(
    'select derived_key, read_on::text as day from derived_reads order by derived_key',
  );
/** By the database's clock, which the sweep uses. */
const today = async () => {
  const [row] = await db.query<{ day: string }>(
    `select (now() at time zone 'utc')::date::text as day`,
  );
  return row?.day;
};

describe('the read date of a derived image', () => {
  it('is not set by the request that renders it, but by later ones, and follows the latest day', async () => {
    expect(await get()).toBe(200);
    await host.reads.flush();
    expect(await reads()).toEqual([]);
    expect(await get()).toBe(200);
    await host.reads.flush();
    const [read, ...others] = await reads();
    expect([read?.day, others]).toEqual([await today(), []]);
    expect(read?.derived_key).toContain(`derived/${project.project_id}/`);
    await db.query('update derived_reads set read_on = read_on - 3');
    host.clock.advance(3 * DAY_SECONDS);
    expect(await get()).toBe(200);
    await host.reads.flush();
    expect((await reads()).map(({ day }) => day)).toEqual([await today()]);
  });

  it.each([-40, 40])(
    'is the day of the database even if the server’s clock is %i days off',
    async (days) => {
      await get();
      host.clock.advance(days * DAY_SECONDS);
      expect(await get()).toBe(200);
      await host.reads.flush();
      expect((await reads()).map(({ day }) => day)).toEqual([await today()]);
    },
  );

  it('is also set when another server has rendered the image', async () => {
    await get();
    const { content, queue } = host;
    const prefix = `derived/${project.project_id}/`;
    await expect.poll(() => content.list({ prefix, limit: 2 })).toHaveLength(1);
    const other = await startDeliveryHost({ db: counted, content, queue, wall_clock_ms: 0 });
    const answer = await other.get(project.project_slug, PATH);
    await other.stop();
    expect([answer.status, (await reads()).length]).toEqual([200, 1]);
  });

  it('is written once a day, without delaying any viewer', async () => {
    await get();
    for (let count = 0; count < 5; count += 1) expect(await get()).toBe(200);
    expect(statements).toEqual([]);
    await host.reads.flush();
    for (let count = 0; count < 5; count += 1) expect(await get()).toBe(200);
    await host.reads.flush();
    expect(statements.length).toBe(1);
  });

  it('is written later if the database fails, and the image is served meanwhile', async () => {
    await get();
    isAway = true;
    expect(await get()).toBe(200);
    await host.reads.flush();
    expect(await reads()).toEqual([]);
    isAway = false;
    await host.reads.flush();
    expect((await reads()).length).toBe(1);
  });
});

it('two servers record reads of 2500 images in few statements, without a deadlock', async () => {
  const keys = Array.from({ length: 2500 }, (_, at) => `derived/p/1/file/1/${at}`);
  const clock = createManualClock();
  const servers = [0, 1].map(() => startDerivedReads({ db: counted, clock, log: silent }));
  for (const [at, server] of servers.entries()) {
    for (const key of at === 0 ? keys : keys.toReversed()) server.note(key);
  }
  await Promise.all(servers.map((server) => server.flush()));
  expect((await reads()).length).toBe(keys.length);
  expect(statements.length).toBe(6);
  await Promise.all(servers.map((server) => server.stop()));
});
