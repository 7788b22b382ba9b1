/**
 * A delivery process is killed while it sends responses. Its successor with the same spool meters each completed
 * delivery once, and the interrupted one not at all. Spec: Metering.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { publishImage } from '../support/delivered.ts';
import { ask, ROOT_DOMAIN } from '../support/delivery-host.ts';
import { makeProject } from '../support/rows.ts';
import type { SendingWords } from './support/sending-delivery.ts';
import { endWell, type Spawned, startProgram, untilReady } from './support/spawned.ts';
import { makeStorage, type TestStorage } from './support/storages.ts';

const { db, url } = useDatabase({ maxConnections: 10 });
const spool_folder = mkdtempSync(join(tmpdir(), 'tintype-killed-spool-'));
const MIB = 1_048_576;
const LARGE = Buffer.alloc(40 * MIB, 'tintype ');
const SMALL = Buffer.alloc(3 * MIB, 'tintype ');
let storage: TestStorage;
let project: ProjectRow;
let delivery: Spawned | undefined;

beforeAll(async () => {
  storage = await makeStorage('folder');
  project = await makeProject(db);
  const at = { db, content: storage.buckets.content };
  for (const [file_slug, bytes] of Object.entries({ large: LARGE, small: SMALL })) {
    const image = { bytes, width: 100, height: 100, content_type: 'image/png' as const };
    await publishImage(at, project, { image, file_slug });
  }
});
afterAll(async () => {
  delivery?.child.kill('SIGKILL');
  await storage?.remove();
  rmSync(spool_folder, { recursive: true });
});

async function start(): Promise<number> {
  const words: SendingWords = { url: url(), storage: storage.words, spool_folder };
  delivery = startProgram('sending-delivery', words);
  await untilReady(delivery);
  await expect.poll(() => delivery?.lines.length).toBe(1);
  return Number(delivery.lines[0]);
}

const host = () => `${project.project_slug}.${ROOT_DOMAIN}`;
const small = async (port: number) =>
  (await ask(port, host(), { path: '/originals/f/small' })).status;

/** Reads the beginning of a response and then pauses. */
async function readSome(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(`GET /originals/f/large HTTP/1.1\r\nHost: ${host()}\r\n\r\n`);
  for (let length = 0; length < MIB; ) length += ((await once(socket, 'data'))[0] as Buffer).length;
  socket.pause();
  return socket;
}

const metered = () =>
  db.query(
    `select sum(requests)::int as requests, sum(credits)::int as credits, sum(bytes)::int as bytes
     from usage_batch_rows where project_id = $1`,
    [project.project_id],
  );

it('a killed delivery process meters complete responses once, and interrupted ones not at all', async () => {
  const first = await start();
  expect([await small(first), await small(first)]).toEqual([200, 200]);
  const socket = await readSome(first);
  delivery?.child.kill('SIGKILL');
  await delivery?.ended;
  socket.destroy();
  const second = await start();
  expect(await small(second)).toBe(200);
  await endWell(delivery ?? expect.fail('it did not start'));
  const bytes = 3 * SMALL.length;
  expect(await metered()).toEqual([{ requests: 3, credits: 9, bytes }]);
}, 300_000);
