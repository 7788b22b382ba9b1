/**
 * A model of an upload session, written from the specification only, against which tests compare histories of calls.
 * Spec: Upload session (status); Processing error codes.
 */
import { UPLOAD_RATE_WINDOW_SECONDS } from '../../runtime/core/limits.ts';

export type Mode = 'direct' | 'multipart' | 'proxy';
/** The stored bytes: the declared ones, others of the same size, or others of another size. */
export type Stored = 'none' | 'right' | 'same_size' | 'other_size';
/** The declared digest: that of the right bytes, of other bytes, or none. */
export type Digest = 'none' | 'right' | 'other';

export type ModelSession = {
  upload_id: string;
  file_slug: string;
  mode: Mode;
  digest: Digest;
  status: 'created' | 'uploaded' | 'processing' | 'ready' | 'failed' | 'expired';
  error_code: string | null;
  stored: Stored;
  /** Multipart only: whether the part was sent, but not yet combined. */
  has_part: boolean;
  /** When the last PUT through the proxy began, in ms of the database clock; -Infinity if never. */
  put_at: number;
  is_over: boolean;
};

/** The status, and the error code of a rejection. */
export type Answered = { status: number; code?: string };

const isPending = ({ status }: ModelSession) => status === 'created';
const hasRightSize = ({ stored }: ModelSession) => stored === 'right' || stored === 'same_size';
const hasDigest = ({ stored, digest }: ModelSession) =>
  digest === 'none' || (digest === 'right' && stored === 'right');

export function sendsTo(session: ModelSession, stored: Stored): void {
  session.stored = stored;
}

export function completes(session: ModelSession, list: 'right' | 'wrong' | 'none'): Answered {
  if (session.mode === 'multipart' && isPending(session) && session.is_over) {
    return { status: 410, code: 'upload_expired' };
  }
  if (session.mode === 'multipart' && isPending(session) && !session.is_over) {
    if (list === 'none') return { status: 400, code: 'parts_required' };
    if (list === 'wrong') return { status: 400, code: 'invalid_parts' };
    if (session.has_part) sendsTo(session, 'right');
    else if (session.stored === 'none') return { status: 400, code: 'invalid_parts' };
    session.has_part = false;
  }
  return notices(session);
}

/**
 * The complete call without a part list, a storage event, and the end of a proxy PUT all have this
 * effect.
 */
export function notices(session: ModelSession): Answered {
  const { status, mode, is_over, stored } = session;
  if (status === 'expired') return { status: 410, code: 'upload_expired' };
  if (status === 'failed') return { status: 422, code: session.error_code ?? '' };
  if (status !== 'created') return { status: 200 };
  if (is_over && stored === 'none') return { status: 410, code: 'upload_expired' };
  if (stored === 'none') return { status: 409, code: 'ingest_object_missing' };
  if (!hasRightSize(session)) return { status: 409, code: 'ingest_size_mismatch' };
  if (!hasDigest(session)) {
    if (mode === 'multipart') ends(session, 'failed', 'sha256_mismatch');
    return { status: 422, code: 'sha256_mismatch' };
  }
  session.status = 'uploaded';
  return { status: 200 };
}

export function takesProxyPut(session: ModelSession, now: number): Answered {
  if (session.is_over) return { status: 401, code: 'signature_expired' };
  if (!isPending(session)) return { status: 409, code: 'upload_not_pending' };
  session.put_at = now;
  sendsTo(session, 'right');
  const answer = notices(session);
  return answer.status === 200 ? { status: 204 } : answer;
}

export function aborts(session: ModelSession): Answered {
  if (session.status === 'expired') return { status: 200 };
  if (!isPending(session)) return { status: 409, code: 'upload_not_pending' };
  ends(session, 'expired', 'session_expired');
  session.stored = 'none';
  session.has_part = false;
  return { status: 200 };
}

/** The grace period for an upload of few bytes, whose own duration is negligible. */
const PROXY_GRACE_MS = UPLOAD_RATE_WINDOW_SECONDS * 1000;

/** The effect of the sweep. A PUT that began before the expiry may still finish. */
export function isSwept(session: ModelSession, now: number): void {
  if (!isPending(session)) return;
  const { is_over, put_at, stored } = session;
  const is_in_grace = now <= put_at + PROXY_GRACE_MS;
  if (hasRightSize(session) && (is_over || hasDigest(session))) session.status = 'uploaded';
  else if (!is_over || is_in_grace) return;
  else if (stored === 'none') ends(session, 'expired', 'session_expired');
  else ends(session, 'failed', 'ingest_size_mismatch');
}

/** The effect of a worker on an uploaded session. */
export function isProcessed(session: ModelSession): void {
  if (session.status !== 'uploaded' && session.status !== 'processing') return;
  const code = refusalOf(session);
  if (code === undefined) session.status = 'ready';
  else ends(session, 'failed', code);
}

/** Whether a worker would turn the session into a file. */
export function isToBeReady(session: ModelSession): boolean {
  return session.status === 'uploaded' && refusalOf(session) === undefined;
}

function refusalOf(session: ModelSession): string | undefined {
  if (session.stored === 'none') return 'ingest_object_missing';
  if (session.stored === 'other_size') return 'ingest_size_mismatch';
  if (!hasDigest(session)) return 'sha256_mismatch';
  return session.stored === 'right' ? undefined : 'unsupported_media_type';
}

function ends(session: ModelSession, status: 'expired' | 'failed', code: string): void {
  session.status = status;
  session.error_code = code;
}
