/**
 * Previews for staff and the scanner: answered and stored nowhere. The source is read before a permit is acquired, so a
 * slow storage costs viewers no slot; each requesting process has one preview at a time. Failures are answers, because
 * errors over a queue carry no code. Spec: Staff previews.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type PreviewReply,
  type PreviewRequest,
  previewRequestSchema,
} from '../../core/delivery/preview-request.ts';
import { BUSY_RETRY_AFTER_SECONDS } from '../../core/limits.ts';
import { isOutage } from '../../core/outage.ts';
import { QueueBusy } from '../../platform/queue/queue.ts';
import { isInfrastructureFailure, SandboxFailure } from '../sandbox/sandbox-failure.ts';
import { draw } from './draw.ts';
import type { RenderDeps } from './render-derived.ts';

export type PreviewDeps = Pick<RenderDeps, 'content' | 'sandbox' | 'scheduler' | 'log'>;

/** The preview request; undefined when the payload is another kind of call. */
export function readPreview(payload: unknown): PreviewRequest | undefined {
  const isPreview = payload instanceof Object && 'read_ms_max' in payload;
  return isPreview ? previewRequestSchema.parse(payload) : undefined;
}

export async function renderPreview(
  deps: PreviewDeps,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<PreviewReply> {
  const source = await readInTime(deps, request, signal);
  if (source === undefined) return { outcome: 'missing' };
  if (source === 'unread') return { outcome: 'unread' };
  const leave = await deps.scheduler.enter(request, signal);
  try {
    const object_key = request.source_key;
    const drawn = await draw(deps.sandbox, request, { parts: [source], signal, object_key });
    leave('rendered');
    return { outcome: 'done', ...drawn };
  } catch (error) {
    return replyTo(deps, error);
  } finally {
    leave('given up');
  }
}

async function readInTime(
  { content, log }: PreviewDeps,
  { source_key, read_ms_max }: PreviewRequest,
  signal: AbortSignal,
): Promise<Buffer | undefined | 'unread'> {
  const ended = new AbortController();
  const late = sleep(read_ms_max, 'unread' as const, {
    signal: AbortSignal.any([signal, ended.signal]),
  });
  try {
    return await Promise.race([content.read(source_key), late]);
  } catch (error) {
    if (!isOutage(error)) throw error;
    log.warn('the source of a preview could not be read', { object_key: source_key, error });
    return 'unread';
  } finally {
    ended.abort();
  }
}

function replyTo({ log }: PreviewDeps, error: unknown): PreviewReply {
  if (!(error instanceof SandboxFailure)) throw error;
  if (isInfrastructureFailure(error)) {
    log.warn('a preview was not rendered: the caller must retry', { error });
    throw new QueueBusy('render', BUSY_RETRY_AFTER_SECONDS);
  }
  const { reason } = error;
  const isKnown = reason === 'timeout' || reason === 'out_of_memory';
  return { outcome: 'undrawable', reason: isKnown ? reason : 'decode_failed' };
}
