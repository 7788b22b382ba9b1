// A delivery server with a full disk keeps delivering, reports it, and spools usage again once there is room: a real
// process on a real disk of 64 KiB. Spec: Metering.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { publishImage } from '../../support/delivered.ts';
import { ask, ROOT_DOMAIN } from '../../support/delivery-host.ts';
import { fillDisk } from '../../support/fill-disk.ts';
import { openFolderBuckets } from '../../support/folder-buckets.ts';
import { over, quarters } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';

const { db, url } = useDatabase();
const folder = mkdtempSync(join(tmpdir(), 'tintype-small-disk-'));
const spool = join(folder, 'spool');
const lines: string[] = [];
let child: ChildProcessByStdio<Writable, Readable, null>;
let port: number;
let project: ProjectRow;

// A mount namespace of its own, so that the disk disappears with the process. `$0` is the mount
// point, and the arguments are the command.
const ON_SMALL_DISK = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"';

beforeAll(async () => {
  mkdirSync(spool);
  project = await makeProject(db);
  const bytes = await over(quarters(16, 16)).png().toBuffer();
  const image = { bytes, width: 16, height: 16, content_type: 'image/png' as const };
  const { content } = openFolderBuckets(folder);
  await publishImage({ db, content }, project, { image, file_slug: 'cat' });
  const script = new URL('../../support/small-disk-delivery.ts', import.meta.url).pathname;
  const command = [process.execPath, script, spool, folder, url()];
  const namespace = ['--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, spool];
  child = spawn('unshare', [...namespace, ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const reader = createInterface({ input: child.stdout });
  const [first] = await once(reader, 'line');
  reader.on('line', (line) => lines.push(line));
  port = Number(first);
});
afterAll(async () => {
  child.kill('SIGKILL');
  await once(child, 'close');
  rmSync(folder, { recursive: true });
});

const view = async () =>
  (await ask(port, `${project.project_slug}.${ROOT_DOMAIN}`, { path: '/originals/f/cat' })).status;

async function requests(): Promise<number> {
  const [row] = await db.query<{ requests: number }>(
    'select coalesce(sum(requests), 0)::int as requests from usage_batch_rows',
  );
  return row?.requests ?? 0;
}

async function counts(): Promise<{ lost: number; unspooled: number }> {
  const before = lines.length;
  child.stdin.write('\n');
  const answer = () => lines.slice(before).find((line) => line.startsWith('counts '));
  await expect.poll(answer).toBeDefined();
  return JSON.parse(answer()?.slice('counts '.length) ?? '');
}
const lost = async () => (await counts()).lost;

/** The spool folder with the small disk, as seen by the process. */
const disk = () => join(`/proc/${child.pid}/root`, spool);
const ballast = () => join(disk(), 'ballast');
/** Segments that are not deleted yet: their space is free once they are. */
const segments = () =>
  readdirSync(disk(), { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.ndjson'),
  );

it('a full disk is counted and logged once, and neither loses usage nor affects viewers', async () => {
  rmSync(ballast(), { force: true });
  lines.length = 0;
  const before = await requests();
  expect(await view()).toBe(200);
  await expect.poll(requests).toBe(before + 1);
  await expect.poll(segments).toEqual([]);
  const { unspooled } = await counts();
  fillDisk(ballast());
  for (let count = 0; count < 5; count += 1) expect(await view()).toBe(200);
  await expect.poll(requests).toBe(before + 6);
  expect(await lost()).toBe(0);
  const said = lines.filter((line) => line.includes('usage could not be spooled'));
  // Logged once, counted five times.
  expect([said.length, (await counts()).unspooled - unspooled]).toEqual([1, 5]);
  expect(said[0]).toContain('ENOSPC');
  rmSync(ballast());
  for (let count = 0; count < 3; count += 1) expect(await view()).toBe(200);
  await expect.poll(requests).toBe(before + 9);
  expect(await lost()).toBe(0);
  expect(lines.filter((line) => line.includes('set aside'))).toEqual([]);
});
