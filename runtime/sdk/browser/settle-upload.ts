/** Settles an upload that failed or was stopped. Spec: Upload helper codes. */
import type { ReadyAnswer } from '../protocol.ts';
import type { Endpoint } from './endpoint.ts';
import { type Arrived, abort, finish } from './helper-calls.ts';
import { isPassing, never } from './retrying.ts';
import { hasCode, UploadError } from './upload-error.ts';

export type Failed = {
  readonly token: string;
  /** Null until all bytes were sent; after that, `error` comes from completing the upload. */
  readonly arrived: Arrived | null;
  readonly error: unknown;
  /** Called if the service turns out to have all bytes. */
  readonly onTaken?: () => void;
};

/** Codes of completing a session that has ended, or that has ended only by the handler's clock. */
const WITHOUT_BYTES = ['upload_expired', 'ingest_object_missing', 'parts_required'];

/**
 * Abandons the upload, so that it holds no room. If the service already has its bytes, it publishes
 * the file anyway, and this returns the answer. Returns null if the session ended without the
 * bytes; throws the error otherwise.
 */
export async function settleUpload(
  endpoint: Endpoint,
  { token, arrived, error, onTaken }: Failed,
): Promise<ReadyAnswer | null> {
  const code = await abort(endpoint, token);
  const isOpen = code === 'upload_not_pending' || code === 'upload_expired';
  if (!isOpen || (arrived !== null && isAnswer(error))) throw error;
  if (code === 'upload_not_pending') onTaken?.();
  try {
    return await finish(endpoint, arrived ?? { token }, never);
  } catch (end) {
    if (WITHOUT_BYTES.some((each) => hasCode(end, each))) return null;
    throw end;
  }
}

/** A definite answer of the handler about bytes that arrived, which a retry would not change. */
function isAnswer(error: unknown): boolean {
  return error instanceof UploadError && error.status !== null && !isPassing(error);
}
