/**
 * The image of a revision as staff see it: drawn by a render worker, one at a time per process. Every way to fail has
 * an error code. Spec: Staff previews.
 */
import {
  PREVIEW_DEADLINE_MS,
  type PreviewReply,
  previewReplySchema,
  type Rendition,
  requestPreview,
} from '../core/delivery/preview-request.ts';
import { ServiceError } from '../core/errors.ts';
import { BUSY_RETRY_AFTER_SECONDS, PREVIEW_SOURCE_BYTES_MAX } from '../core/limits.ts';
import type { ScannedRevision } from '../db/scanned-revisions.ts';
import { QueueBusy, QueueTimeout } from '../platform/queue/queue.ts';
import type { ApiDeps } from './deps.ts';
import { Page } from './page.ts';
import { previewBusy } from './preview-gate.ts';

export async function renderPreview(
  { previews, queue }: Pick<ApiDeps, 'previews' | 'queue'>,
  source: ScannedRevision,
  { rendition, left }: { rendition: Rendition; left: AbortSignal },
): Promise<Page> {
  const max_bytes = PREVIEW_SOURCE_BYTES_MAX;
  if (source.size_bytes > max_bytes)
    throw new ServiceError('preview_too_large', { details: { max_bytes } });
  const request = requestPreview(source, rendition);
  const terms = { deadline_ms: PREVIEW_DEADLINE_MS, signal: left };
  const ask = () => queue.call('render', request, terms).catch((error) => refuse(error, left));
  return pictureOf(previewReplySchema.parse(await previews(ask, left)));
}

/** Busy: no render worker had time, or the caller has left. */
function refuse(error: unknown, left: AbortSignal): never {
  if (left.aborted) throw previewBusy(BUSY_RETRY_AFTER_SECONDS, error);
  if (error instanceof QueueBusy) throw previewBusy(error.retry_after_seconds, error);
  if (error instanceof QueueTimeout) throw previewBusy(BUSY_RETRY_AFTER_SECONDS, error);
  throw error;
}

function pictureOf(reply: PreviewReply): Page {
  switch (reply.outcome) {
    case 'done':
      return picture(reply);
    case 'missing':
      throw new ServiceError('content_missing');
    case 'unread':
      throw new ServiceError('storage_unavailable');
    case 'undrawable':
      throw new ServiceError('preview_unavailable', { details: { reason: reply.reason } });
  }
}

/** Displayed inline, without a file name. */
function picture({ content_type, bytes }: { content_type: string; bytes: Uint8Array }): Page {
  const headers = { 'content-type': content_type, 'content-disposition': 'inline' };
  return new Page({ headers, bytes });
}
