/** The end of an upload that failed on the way or was stopped. Spec: Upload helper codes. */
import type { ReadyAnswer } from '../protocol.ts';
import type { Endpoint } from './endpoint.ts';
import { type Arrived, abort, finish } from './helper-calls.ts';
import { isPassing, never } from './retrying.ts';
import { hasCode, UploadError } from './upload-error.ts';

export type Failed = {
  readonly token: string;
  /** Null until all bytes were sent; from then on `error` is of completing it. */
  readonly arrived: Arrived | null;
  readonly error: unknown;
  /** Where the service turns out to have all bytes. */
  readonly onTaken?: () => void;
};

/** What completing says of a session that is over, and of one that is over by the clock of the handler alone. */
const WITHOUT_BYTES = ['upload_expired', 'ingest_object_missing', 'parts_required'];

/**
 * Gives the upload up, so that it holds no room. The service publishes one whose bytes it has, whatever is said here:
 * that is told of. Null where its session is over without them; throws the error of any other.
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

/** What the handler has answered of bytes that arrived is so, unless it may be otherwise a little later. */
function isAnswer(error: unknown): boolean {
  return error instanceof UploadError && error.status !== null && !isPassing(error);
}
