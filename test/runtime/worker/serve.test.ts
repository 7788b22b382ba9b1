import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type RenderRequest,
  renderReplySchema,
} from '../../../runtime/core/delivery/render-request.ts';
import { findFile } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
import { countedQueue } from '../../../runtime/platform/queue/counted-queue.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { QueueTimeout } from '../../../runtime/platform/queue/queue.ts';
import type { WorkerOptions } from '../../../runtime/worker/lanes.ts';
import { startWorker, type Worker } from '../../../runtime/worker/serve.ts';
import { useDatabase } from '../../support/database.ts';
import { decoderPids, ticksOf } from '../../support/decoder-processes.ts';
import { makeFolderBuckets } from '../../support/folder-buckets.ts';
import { over, photograph } from '../../support/pictures.ts';
import { makeProject } from '../../support/rows.ts';
import { arrive, uploadAsItIs } from '../../support/uploads.ts';

const { db } = useDatabase();
const storage = makeFolderBuckets();
const { buckets } = storage;
let project: ProjectRow;
let bytes: Buffer;
let worker: Worker | undefined;

beforeAll(async () => {
  project = await makeProject(db);
  bytes = await over(photograph(400, 300)).jpeg().toBuffer();
  await buckets.content.write('source', bytes, { content_type: 'image/jpeg' });
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});
afterAll(() => storage.remove());

async function start(changes: Partial<WorkerOptions> = {}) {
  const queue = createInProcessQueue();
  const renders: string[] = [];
  worker = await startWorker({
    db,
    buckets,
    queue,
    clock: systemClock,
    log: createLog({ level: 'silent', name: 'test' }),
    poll_every_ms: 3_600_000,
    render: { slots: 1 },
    metrics: {
      ingest: () => undefined,
      registerSources: () => undefined,
      decoderKilled: () => undefined,
      render: ({ result }) => void renders.push(result),
    },
    ...changes,
  });
  return { queue, renders };
}

let count = 0;
function request(changes: Partial<RenderRequest> = {}): RenderRequest {
  count += 1;
  const window = { x: 0, y: 0, width: 400, height: 300 };
  return {
    project_id: project.project_id,
    derived_key: `derived/${count}`,
    source_key: 'source',
    window,
    cost_ms: 20,
    plan: {
      window,
      output: { width: 160, height: 120 },
      format: 'webp',
      quality: 80,
      watermark: null,
    },
    ...changes,
  };
}

const ticksOfDecoders = () => decoderPids().reduce((sum, pid) => sum + ticksOf(pid), 0);

async function untilReady(upload: Parameters<typeof uploadAsItIs>[1]): Promise<void> {
  await expect.poll(async () => (await uploadAsItIs(db, upload)).status).toBe('ready');
}

describe('a worker', () => {
  it('processes an upload when its queue message arrives', async () => {
    const { queue } = await start();
    const upload = await arrive({ db, buckets }, project, { bytes });
    await queue.publish('ingest', { upload_id: upload.upload_id });
    await untilReady(upload);
    const file = await findFile(db, {
      project_id: project.project_id,
      file_slug: upload.file_slug,
    });
    expect(file?.width).toBe(400);
  });

  it('finds an upload whose queue message was lost', async () => {
    await start({ poll_every_ms: 30 });
    const upload = await arrive({ db, buckets }, project, { bytes });
    await untilReady(upload);
  });

  it('finds uploads that wait when it starts', async () => {
    const uploads = [
      await arrive({ db, buckets }, project, { bytes }),
      await arrive({ db, buckets }, project, { bytes }),
    ];
    await start();
    for (const upload of uploads) await untilReady(upload);
  });

  it('serves projects in turn, whichever upload a queue message names', async () => {
    const crowded = await makeProject(db);
    const crowd = [];
    for (let n = 0; n < 6; n += 1) crowd.push(await arrive({ db, buckets }, crowded, { bytes }));
    const alone = await arrive({ db, buckets }, await makeProject(db), { bytes });
    const attempted: string[] = [];
    const { queue } = await start({
      // One slot, so that the latest turn belongs to the upload that was just claimed.
      ingest: { slots: 1 },
      failpoint: async (name) => {
        if (name !== 'ingest.claimed') return;
        const [row] = await db.query<{ project_id: string }>(
          'select project_id from upload_turns order by claimed_at desc limit 1',
        );
        attempted.push(row?.project_id ?? '');
      },
    });
    for (const { upload_id } of crowd) await queue.publish('ingest', { upload_id });
    for (const upload of [...crowd, alone]) await untilReady(upload);
    expect(attempted.slice(0, 2)).toContain(alone.project_id);
  });

  it('counts an upload as in hand even if no queue message brought it', async () => {
    const entered = Promise.withResolvers<void>();
    const let_go = Promise.withResolvers<void>();
    const metrics = createMetrics();
    const queue = countedQueue(createInProcessQueue());
    metrics.registerSources({ in_hand: queue.inHand });
    const inHand = async () =>
      /^tintype_queue_in_hand\{work="ingest"\} (\d+)$/m.exec((await metrics.print()).text)?.[1];
    const upload = await arrive({ db, buckets }, project, { bytes });
    await start({
      ...{ queue, metrics, ingest: { slots: 1 } },
      failpoint: (name) => {
        if (name !== 'ingest.claimed') return undefined;
        entered.resolve();
        return let_go.promise;
      },
    });
    await entered.promise;
    expect(await inHand()).toBe('1');
    let_go.resolve();
    await untilReady(upload);
    await expect.poll(inHand).toBe('0');
  });

  it('without upload slots leaves uploads to other workers, and renders', async () => {
    const upload = await arrive({ db, buckets }, project, { bytes });
    const { queue } = await start({ ingest: { slots: 0 }, poll_every_ms: 10 });
    await buckets.content.write('source', bytes, { content_type: 'image/png' });
    await queue.call('render', request(), { deadline_ms: 10_000 });
    expect((await uploadAsItIs(db, upload)).status).toBe('uploaded');
    await worker?.stop();
    await start({ render: { slots: 0 } });
    await untilReady(upload);
  });

  it('without any slots does not start', async () => {
    await expect(start({ ingest: { slots: 0 }, render: { slots: 0 } })).rejects.toThrow(
      'TINTYPE_RENDER_SLOTS',
    );
  });

  it('survives invalid queue messages', async () => {
    const { queue } = await start();
    await queue.publish('ingest', { upload_id: 'upl_none' });
    await queue.publish('ingest', { nonsense: true });
    const upload = await arrive({ db, buckets }, project, { bytes });
    await queue.publish('ingest', { upload_id: upload.upload_id });
    await untilReady(upload);
  });

  it('finishes the upload that it has begun before it stops', async () => {
    const entered = Promise.withResolvers<void>();
    const { queue } = await start({
      failpoint: (name) => {
        if (name === 'ingest.opened') entered.resolve();
      },
    });
    const upload = await arrive({ db, buckets }, project, { bytes });
    await queue.publish('ingest', { upload_id: upload.upload_id });
    await entered.promise;
    await worker?.stop();
    worker = undefined;
    expect((await uploadAsItIs(db, upload)).status).toBe('ready');
  });
});

describe('a render call', () => {
  it('returns the image and stores it', async () => {
    const { queue } = await start();
    const asked = request();
    const reply = renderReplySchema.parse(
      await queue.call('render', asked, { deadline_ms: 10_000 }),
    );
    expect(reply.content_type).toBe('image/webp');
    expect(reply.size_bytes).toBe(reply.bytes?.length);
    await worker?.stop();
    worker = undefined;
    const stored = await buckets.content.read(asked.derived_key);
    expect(stored?.equals(reply.bytes ?? Buffer.alloc(0))).toBe(true);
  });

  it('renders once for many concurrent calls for the same image', async () => {
    const { queue, renders } = await start({ render_waiting_max: 100, render: { slots: 2 } });
    const asked = request();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => queue.call('render', asked, { deadline_ms: 10_000 })),
    );
    expect(new Set(replies.map((reply) => renderReplySchema.parse(reply).size_bytes)).size).toBe(1);
    expect(renders).toEqual(['done']);
  });

  it('for a large image returns its key, once it is stored', async () => {
    const { queue } = await start();
    const output = { width: 1600, height: 1200 };
    const asked = request({ plan: { ...request().plan, output, format: 'png', quality: 100 } });
    const reply = renderReplySchema.parse(
      await queue.call('render', asked, { deadline_ms: 10_000 }),
    );
    expect(reply.bytes).toBeNull();
    expect((await buckets.content.head(asked.derived_key))?.size_bytes).toBe(reply.size_bytes);
  });

  it('draws the watermark that the plan names', async () => {
    const { queue } = await start();
    await buckets.content.write('mark', await over(photograph(20, 20)).png().toBuffer(), {
      content_type: 'image/png',
    });
    const plan = request().plan;
    const watermark = {
      object_key: 'mark',
      revision_tag: '1',
      x: 0,
      y: 0,
      width: 20,
      height: 20,
      opacity: 100,
    };
    const [plain, marked] = await Promise.all(
      [request({ plan }), request({ plan: { ...plan, watermark } })].map(async (asked) =>
        renderReplySchema.parse(await queue.call('render', asked, { deadline_ms: 10_000 })),
      ),
    );
    expect(
      Buffer.compare(plain?.bytes ?? Buffer.alloc(0), marked?.bytes ?? Buffer.alloc(0)),
    ).not.toBe(0);
  });

  it('times out if the render takes too long, and the worker continues', async () => {
    const { queue, renders } = await start({ render: { slots: 1, wall_clock_ms: 40 } });
    const output = { width: 4000, height: 3000 };
    const slow = request({ plan: { ...request().plan, output, format: 'avif' } });
    await expect(queue.call('render', slow, { deadline_ms: 10_000 })).rejects.toThrow(QueueTimeout);
    expect(renders).toEqual(['timeout']);
    const gone = request({ source_key: 'nothing' });
    await expect(queue.call('render', gone, { deadline_ms: 10_000 })).rejects.toThrow('gone');
  });

  it('fails for a missing source without storing anything, and for an invalid request', async () => {
    const { queue } = await start();
    const gone = request({ source_key: 'nothing' });
    await expect(queue.call('render', gone, { deadline_ms: 10_000 })).rejects.toThrow('gone');
    expect(await buckets.content.head(gone.derived_key)).toBeUndefined();
    await expect(queue.call('render', { what: 1 }, { deadline_ms: 10_000 })).rejects.toThrow();
  });

  it('is given up when its caller leaves, and not counted as a failure', async () => {
    const { queue, renders } = await start();
    await queue.call('render', request(), { deadline_ms: 10_000 });
    const idle = ticksOfDecoders();
    const output = { width: 4000, height: 3000 };
    const slow = request({ plan: { ...request().plan, output, format: 'avif' } });
    const leave = new AbortController();
    const call = queue.call('render', slow, { deadline_ms: 10_000, signal: leave.signal });
    await expect.poll(ticksOfDecoders).toBeGreaterThan(idle + 10);
    leave.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    const reply = await queue.call('render', request(), { deadline_ms: 10_000 });
    expect(renderReplySchema.parse(reply).size_bytes).toBeGreaterThan(0);
    // Nobody waited for it, so it does not count as a failure.
    expect(renders).toEqual(['done', 'done']);
  });
});
