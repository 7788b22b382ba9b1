import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { type DeliveryHost, ROOT_DOMAIN, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const bytes = Buffer.alloc(30_000_000, 'x');
let project: ProjectRow;
beforeAll(async () => {
  project = await makeProject(db);
});
afterEach(() => {
  vi.useRealTimers();
});

async function start(options: { drain_ms?: number } = {}): Promise<DeliveryHost> {
  const host = await startDeliveryHost({ db, wall_clock_ms: 0, ...options });
  await publishImage({ db, content: host.content }, project, {
    image: { bytes, width: 100, height: 100, content_type: 'image/png' },
    file_slug: 'large',
  });
  host.clock.advance(31);
  return host;
}

/** Starts a download, and stops reading it. */
async function begin(host: DeliveryHost) {
  const socket = connect({ port: host.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(
    `GET /originals/f/large HTTP/1.1\r\nHost: ${project.project_slug}.${ROOT_DOMAIN}\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** Connects without sending anything; returns `connected` or the error code. */
async function attempt({ port }: DeliveryHost): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return 'connected';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

const requests = async () =>
  (await db.query('select * from usage_batch_rows where project_id = $1', [project.project_id]))
    .length;

describe('the shutdown of a delivery process', () => {
  it('completes responses in progress, accepts no new connection, and flushes usage', async () => {
    const host = await start({ drain_ms: 20_000 });
    const before = await requests();
    const idle = connect({ port: host.port, host: '127.0.0.1' });
    await once(idle, 'connect');
    const socket = await begin(host);
    const stopped = host.close();
    await expect.poll(() => attempt(host)).toBe('ECONNREFUSED');
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    socket.resume();
    await stopped;
    idle.destroy();
    await expect.poll(() => received).toBeGreaterThan(bytes.length - 200_000);
    expect(await requests()).toBe(before + 1);
  });

  it('does not wait for a viewer beyond its drain deadline', async () => {
    const host = await start({ drain_ms: 100 });
    const before = await requests();
    const socket = await begin(host);
    await host.close();
    socket.destroy();
    expect(await requests()).toBe(before + 1);
  });

  it('waits 20 seconds for viewers by default', async () => {
    const host = await start();
    const socket = await begin(host);
    const connections = promisify(host.server.getConnections.bind(host.server));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stopped = host.close();
    // A poll of vitest would advance the fake clock.
    while (host.server.listening) await turn();
    vi.advanceTimersByTime(19_999);
    // A closed connection would be gone after one turn of the event loop.
    await turn();
    expect(await connections()).toBe(1);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await stopped;
    socket.destroy();
  });
});

it.each([-5, 5])(
  'a delivery server counts usage in the hour of the database if its own clock is %i days off',
  async (days) => {
    const host = await start();
    host.clock.advance(days * 86_400);
    await host.get(project.project_slug, '/originals/f/large');
    await host.close();
    const [row] = await db.query<{ hours_off: number }>(
      `select max(abs(extract(epoch from now() - window_start))) / 3600 as hours_off
     from usage_batch_rows where project_id = $1`,
      [project.project_id],
    );
    expect(Number(row?.hours_off)).toBeLessThan(2);
  },
);
