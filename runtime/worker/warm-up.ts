/**
 * The presets that a project keeps warm, requested as soon as a file is published: rendered while nobody waits, retried
 * for a while when somebody does, and after that left to the first viewer. Spec: Project; Delivery host.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readChain } from '../core/delivery/chain.ts';
import { planRender } from '../core/delivery/plan.ts';
import { type RenderRequest, requestRender } from '../core/delivery/render-request.ts';
import { chooseWatermark } from '../core/delivery/watermark.ts';
import { RENDER_DEADLINE_SECONDS } from '../core/limits.ts';
import { findDeliveryFile, findDeliveryProject } from '../db/delivery-lookups.ts';
import type { FileRow } from '../db/files.ts';
import { findProject } from '../db/projects.ts';
import { QueueBusy } from '../platform/queue/queue.ts';
import type { WorkerOptions } from './lanes.ts';

export type WarmUp = { add(file: FileRow): void; stop(): Promise<void> };

type Deps = Pick<WorkerOptions, 'db' | 'buckets' | 'queue' | 'log'>;

const TRIES_MAX = 20;
const TRY_AGAIN_MS = 500;
/**
 * How many files may wait for an idle moment; the presets of newer ones are left to their viewers.
 */
const FILES_MAX = 1000;

export function createWarmUp(deps: Deps): WarmUp {
  const files: FileRow[] = [];
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  const work = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      if (stopping.signal.aborted) return;
      await warmFile(deps, file, stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) deps.log.warn('presets were not pre-rendered', { error });
      });
    }
  };
  return {
    add: (file) => {
      if (files.length < FILES_MAX) files.push(file);
      working ??= work().finally(() => {
        working = undefined;
      });
    },
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}

/** One at a time, so that it never takes more than one slot. */
async function warmFile(deps: Deps, file: FileRow, signal: AbortSignal): Promise<void> {
  for (const request of await listWarmRenders(deps, file)) {
    await renderWhenIdle(deps, request, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      const { derived_key: object_key } = request;
      deps.log.warn('a preset was not pre-rendered', { object_key, error });
    });
  }
}

async function listWarmRenders({ db }: Deps, published: FileRow): Promise<RenderRequest[]> {
  const { project_id, file_slug } = published;
  const { warm_presets = [], project_slug = '' } = (await findProject(db, project_id)) ?? {};
  if (warm_presets.length === 0) return [];
  const row = await findDeliveryProject(db, { project_slug });
  const file = await findDeliveryFile(db, { project_id, file_slug });
  if (row === undefined || file === undefined) return [];
  const presets = new Map(row.watermarks.map((one) => [one.watermark_preset_id, one]));
  return warm_presets.flatMap((name) => {
    const chain = readChain(`preset:${name}`, row.resolution_presets);
    const watermark = (chain && chooseWatermark(chain, { ...row, presets })) ?? null;
    const plan = chain && planRender({ source: file, chain, watermark });
    return plan === undefined
      ? []
      : [{ ...requestRender(row, file, { plan, watermark }), is_warm: true as const }];
  });
}

async function renderWhenIdle(
  { buckets, queue, log }: Deps,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    try {
      await queue.call('render', request, { deadline_ms: RENDER_DEADLINE_SECONDS * 1000, signal });
      return;
    } catch (error) {
      if (!(error instanceof QueueBusy)) throw error;
      // A viewer was faster, and its lease excludes others for a while.
      if ((await buckets.content.head(request.derived_key)) !== undefined) return;
    }
    await sleep(TRY_AGAIN_MS, undefined, { signal });
  }
  log.debug('a preset was not pre-rendered: requests are waiting', {
    object_key: request.derived_key,
  });
}
