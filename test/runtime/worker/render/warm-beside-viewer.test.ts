// Rendering ahead never keeps a viewer from getting the image. Spec: Delivery refusals in checking order (busy).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RenderRequest } from '../../../../runtime/core/delivery/render-request.ts';
import { acquireRenderLease, deleteRenderLease } from '../../../../runtime/db/render-leases.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { QueueTimeout } from '../../../../runtime/platform/queue/queue.ts';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import {
  createDerivedRenders,
  type DerivedRenders,
} from '../../../../runtime/worker/render/render-derived.ts';
import { createRenderScheduler } from '../../../../runtime/worker/render/render-scheduler.ts';
import { createSandbox, type Sandbox } from '../../../../runtime/worker/sandbox/sandbox.ts';
import { useDatabase } from '../../../support/database.ts';
import { type FolderBuckets, makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { over, photograph } from '../../../support/pictures.ts';

const { db } = useDatabase();
const never = new AbortController().signal;
const window = { x: 0, y: 0, width: 64, height: 48 };
const source_key = 'masters/source';
let folder: FolderBuckets;
let renders: DerivedRenders;
let sandbox: Sandbox;
const measured: string[] = [];
const asked: string[] = [];
let slow: Record<string, Promise<void>> = {};

beforeAll(async () => {
  folder = makeFolderBuckets();
  const content = { ...folder.buckets.content, read: readSlowly };
  const bytes = await over(photograph(64, 48)).png().toBuffer();
  await content.write(source_key, bytes, { content_type: 'image/png' });
  const scheduler = createRenderScheduler({ slots: 2, waiting_max: 10, deadline_ms: 10_000 });
  const log = createLog({ level: 'silent', name: 'test' });
  const limits = { memory_bytes: 1_000_000_000, jobs_per_child: 100, wall_clock_ms: 60_000 };
  sandbox = createSandbox({ slots: 2, ...limits, log });
  const metrics = { render: ({ result }: { result: string }) => void measured.push(result) };
  renders = createDerivedRenders({
    db,
    content,
    sandbox,
    scheduler,
    log,
    metrics,
    wall_clock_ms: 60_000,
  });
});
afterAll(async () => {
  await renders?.drained();
  await sandbox?.close();
  folder?.remove();
});

/** A storage that delays reads of some keys. */
const readSlowly: Bucket['read'] = async (key, place) => {
  asked.push(key);
  await slow[key];
  return folder.buckets.content.read(key.replace('-slow', ''), place);
};

const requestOf = (name: string): RenderRequest => ({
  project_id: 'prj_1',
  derived_key: `derived/${name}.jpeg`,
  source_key,
  window,
  cost_ms: 10,
  plan: { window, output: { width: 32, height: 24 }, format: 'jpeg', quality: 80, watermark: null },
});

it('a viewer that holds the lease gets the image, and a concurrent warm-up render gives way', async () => {
  const request = requestOf('viewer');
  const lease = { derived_key: request.derived_key, lease_id: randomUUID() };
  expect(await acquireRenderLease(db, { ...lease, lease_seconds: 60 })).toBe('mine');
  const ahead = renders.answer({ ...request, is_warm: true }, never);
  const viewer = renders.answer(request, never);
  await expect(ahead).rejects.toMatchObject({ name: 'QueueBusy' });
  expect(await viewer).toMatchObject({ content_type: 'image/jpeg' });
  await deleteRenderLease(db, lease);
});

it('a warm-up render that is stopped for a viewer is not counted as failed', async () => {
  measured.length = 0;
  const viewed = Promise.withResolvers<void>();
  slow = { [`${source_key}-slow`]: viewed.promise };
  const request = { ...requestOf('slow'), source_key: `${source_key}-slow`, is_warm: true };
  const ahead = renders.answer(request, never);
  const given = expect(ahead).rejects.toMatchObject({ name: 'QueueBusy' });
  await expect.poll(() => asked).toContain(request.source_key);
  expect(await renders.answer(requestOf('another'), never)).toBeDefined();
  viewed.resolve();
  await given;
  expect(measured).toEqual(['done']);
});

it.each([
  ['was left is not counted', new Error('the viewer has left'), []],
  ['was too late is a timeout', new QueueTimeout('render', 1), ['timeout']],
])('a render that %s', async (_, reason, results) => {
  measured.length = 0;
  asked.length = 0;
  const source = `${source_key}-slow`;
  const render = (name: string, signal: AbortSignal) =>
    renders.answer({ ...requestOf(`${name} ${results}`), source_key: source }, signal);
  const [read, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  slow = { [source]: read.promise };
  const leaving = new AbortController();
  const left = expect(render('left', leaving.signal)).rejects.toBe(reason);
  await expect.poll(() => asked).toEqual([source]);
  leaving.abort(reason);
  await left;
  slow = { [source]: held.promise };
  read.resolve();
  const others = ['one', 'another'].map((name) => render(name, never));
  // The others have taken both slots, so the abandoned render has ended.
  await expect.poll(() => asked).toHaveLength(3);
  held.resolve();
  await Promise.all(others);
  expect(measured.filter((result) => result !== 'done')).toEqual(results);
});

it('nothing is rendered ahead while somebody else holds the lease', async () => {
  const request = requestOf('held');
  const lease = { derived_key: request.derived_key, lease_id: randomUUID() };
  await acquireRenderLease(db, { ...lease, lease_seconds: 60 });
  await expect(renders.answer({ ...request, is_warm: true }, never)).rejects.toMatchObject({
    name: 'QueueBusy',
  });
  await deleteRenderLease(db, lease);
  expect(await renders.answer({ ...request, is_warm: true }, never)).toMatchObject({
    content_type: 'image/jpeg',
  });
});
