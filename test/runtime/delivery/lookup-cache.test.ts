import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { blockFile } from '../../../runtime/actions/block-file.ts';
import type { Database } from '../../../runtime/db/client.ts';
import { createDatabase } from '../../../runtime/db/client.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeKey, publishImage, signed } from '../../support/delivered.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { over, quarters } from '../../support/pictures.ts';
import { makeProject, must } from '../../support/rows.ts';
import { type FaultProxy, startFaultProxy } from '../../support/tcp-fault-proxy.ts';

const { db, url } = useDatabase();
let proxy: FaultProxy;
let through: Database;
let host: DeliveryHost;
let project: ProjectRow;
let bytes: Buffer;

beforeAll(async () => {
  bytes = await over(quarters(16, 16)).png().toBuffer();
});
beforeEach(async () => {
  await host?.close();
  await through?.close();
  await proxy?.close();
  const target = new URL(url());
  proxy = await startFaultProxy({ port: Number(target.port) });
  target.port = String(proxy.port);
  through = createDatabase({ url: target.href, connectTimeoutMs: 1500, queryTimeoutMs: 1500 });
  host = await startDeliveryHost({ db: through, wall_clock_ms: 0 });
  project = await makeProject(db);
  for (const file_slug of ['cat', 'dog']) {
    await publishImage({ db, content: host.content }, project, {
      image: { bytes, width: 16, height: 16, content_type: 'image/png' },
      file_slug,
    });
  }
});
afterAll(async () => {
  proxy.set({ kind: 'none' });
  await host.close();
  await through.close();
  await proxy.close();
});

const get = (slug: string) => host.get(project.project_slug, `/originals/f/${slug}`);

async function block(file_slug: string): Promise<void> {
  const [file] = await db.query<{ file_id: string }>(
    'select file_id from files where project_id = $1 and file_slug = $2',
    [project.project_id, file_slug],
  );
  const { file_id } = must(file);
  const actor = { actor_kind: 'system' } as const;
  await db.transaction((tx) => blockFile(tx, { file_id, blocked_by: 'staff', reason: 'x', actor }));
}

function takeDatabaseAway(kind: 'refuse' | 'stall'): void {
  proxy.set({ kind });
  if (kind === 'refuse') proxy.cut();
}

describe.each(['refuse', 'stall'] as const)('while the database does not answer (%s)', (kind) => {
  it('known files are served for five minutes, and no longer', async () => {
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway(kind);
    for (const passed of [31, 100, 168.9]) {
      host.clock.advance(passed);
      expect((await get('cat')).status).toBe(200);
    }
    host.clock.advance(0.2);
    const answer = await get('cat');
    expect([answer.status, answer.code, answer.headers['retry-after']]).toEqual([503, 'busy', '2']);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('caches may keep a response only as long as the cached lookup may be served', async () => {
    const kept = async () => (await get('cat')).headers['cache-control'];
    const longLived = 'public, max-age=300, s-maxage=31536000';
    expect(await kept()).toBe(longLived);
    takeDatabaseAway(kind);
    host.clock.advance(29);
    expect(await kept()).toBe(longLived);
    host.clock.advance(71);
    expect(await kept()).toBe('public, max-age=200, s-maxage=200');
    host.clock.advance(199);
    const derived = { headers: { 'if-none-match': '*' } };
    const answer = await host.get(project.project_slug, '/resize/2x2/f/cat', derived);
    expect(answer.headers['cache-control']).toBe('public, max-age=1, s-maxage=1');
  });

  it('unknown files and hosts are answered with 503 busy', async () => {
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway(kind);
    const answer = await get('dog');
    expect([answer.status, answer.code, answer.headers['retry-after']]).toEqual([503, 'busy', '2']);
    const other = await host.get('elsewhere', '/originals/f/cat');
    expect([other.status, other.code]).toEqual([503, 'busy']);
  });

  it('a URL with an unknown kid is answered with 503 instead of being refused', async () => {
    const key = await makeKey(db, project);
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway(kind);
    const exp = Math.floor(host.clock.now().getTime() / 1000) + 100;
    const path = signed('/originals/f/cat', { project, key: { ...key, kid: 'kid_new' }, exp });
    expect((await host.get(project.project_slug, path)).status).toBe(503);
    const known = signed('/originals/f/cat', { project, key, exp });
    expect((await host.get(project.project_slug, known)).status).toBe(200);
  });

  it('everything is looked up again as soon as it answers', async () => {
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway(kind);
    host.clock.advance(60);
    expect((await get('cat')).status).toBe(200);
    expect((await get('dog')).status).toBe(503);
    await db.query(
      `with gone as (
         update files set status = 'deleted', deleted_at = now() where project_id = $1 returning 1
       ) update projects set file_count = 0, storage_bytes = 0 where project_id = $1`,
      [project.project_id],
    );
    proxy.set({ kind: 'none' });
    proxy.cut();
    host.clock.advance(10);
    await expect.poll(async () => (await get('dog')).status).toBe(404);
    host.clock.advance(30);
    const later = async () => {
      host.clock.advance(1);
      return (await get('cat')).status;
    };
    await expect.poll(later).toBe(404);
  });
});

describe('an image whose lookup is newer than that of its project', () => {
  it('may be cached only as long as the lookup of its project may be served', async () => {
    expect((await get('cat')).status).toBe(200);
    host.clock.advance(20);
    expect((await get('dog')).status).toBe(200);
    takeDatabaseAway('refuse');
    host.clock.advance(80);
    expect((await get('dog')).headers['cache-control']).toBe('public, max-age=200, s-maxage=200');
  });
});

describe('after a brief database outage', () => {
  it('looks up an entry again even if it was not requested in the meantime', async () => {
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway('refuse');
    expect((await get('dog')).status).toBe(503);
    proxy.set({ kind: 'none' });
    await block('cat');
    host.clock.advance(280);
    const answer = await get('cat');
    expect([answer.status, answer.code]).toEqual([403, 'file_blocked']);
  });
});

describe('a frozen database', () => {
  it('delays known files only once: later requests for them are served immediately', async () => {
    expect((await get('cat')).status).toBe(200);
    expect((await get('dog')).status).toBe(200);
    takeDatabaseAway('stall');
    host.clock.advance(31);
    const order: string[] = [];
    await get('cat');
    const slow = host.get('cold', '/originals/f/x').then(() => order.push('cold'));
    host.clock.advance(5);
    await get('dog').then(() => order.push('warm'));
    await slow;
    expect(order).toEqual(['warm', 'cold']);
  });

  it('keeps a viewer waiting for the project alone, and not again for the file', async () => {
    expect((await get('cat')).status).toBe(200);
    takeDatabaseAway('stall');
    host.clock.advance(31);
    const asked = vi.spyOn(through, 'query');
    expect((await get('cat')).status).toBe(200);
    const ofFile = asked.mock.calls.findIndex(([, values]) => values?.includes('cat'));
    expect(asked.mock.settledResults[ofFile]?.type).toBe('incomplete');
  });
});
