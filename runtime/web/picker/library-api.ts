/** The picker's API calls with the session's token; an expired token is renewed once. Spec: Library sessions. */
import type { PickedFile } from '../../sdk/picker-protocol.ts';
import type { Session } from './session.ts';

export type LibraryFile = PickedFile & {
  readonly dominant_color: string;
  readonly thumb_hash: string | null;
};

export type LibraryUpload = {
  readonly upload_id: string;
  readonly status: string;
  readonly error_code: string | null;
  readonly proxy?: { readonly put_url: string };
  readonly file: LibraryFile | null;
};

export type FilePage = {
  readonly items: readonly LibraryFile[];
  readonly next_cursor: string | null;
};

export class PickerError extends Error {
  readonly code: string;
  /** 0 if no answer arrived. */
  readonly status: number;
  /** 0 if the answer did not say. */
  readonly retry_after_seconds: number;

  constructor(code: string, { status = 0, retry_after_seconds = 0 } = {}) {
    super(code);
    this.code = code;
    this.status = status;
    this.retry_after_seconds = retry_after_seconds;
  }
}

/** Codes that end a token for good; a new token may work. */
const ENDED = ['session_expired', 'session_revoked', 'minting_key_revoked', 'invalid_session'];
const PAGE_LIMIT = '60';

/** Whether the error only says that the session has ended, and nothing about the request. */
export function isSessionEnd(error: unknown): boolean {
  return error instanceof PickerError && ENDED.includes(error.code);
}

export function listFiles(
  session: Session,
  { search, cursor, signal }: { search: string; cursor: string | null; signal: AbortSignal },
): Promise<FilePage> {
  const query = new URLSearchParams({ limit: PAGE_LIMIT });
  if (search !== '') query.set('search', search);
  if (cursor !== null) query.set('cursor', cursor);
  return call(session, `/v1/library/files?${query}`, { signal });
}

/**
 * Cannot be aborted, so that an upload that is no longer wanted can be given up once it is known.
 * Repeating a key after a lost answer returns the same upload.
 */
export function createUpload(session: Session, file: File, key: string): Promise<LibraryUpload> {
  const body = JSON.stringify({
    content_type: file.type,
    size_bytes: file.size,
    original_filename: file.name,
    title: null,
  });
  const headers = { 'idempotency-key': key };
  return call(session, '/v1/library/uploads', { method: 'POST', body, headers });
}

/** Throws upload_not_pending if the bytes have already arrived. */
export function abortUpload(session: Session, id: string) {
  const path = `/v1/library/uploads/${encodeURIComponent(id)}/abort`;
  return call<LibraryUpload>(session, path, { method: 'POST' });
}

export function completeUpload(session: Session, id: string, signal: AbortSignal) {
  const path = `/v1/library/uploads/${encodeURIComponent(id)}/complete`;
  return call<LibraryUpload>(session, path, { method: 'POST', signal });
}

export function getUpload(session: Session, id: string, signal: AbortSignal) {
  return call<LibraryUpload>(session, `/v1/library/uploads/${encodeURIComponent(id)}`, { signal });
}

async function call<Answer>(session: Session, path: string, init: RequestInit): Promise<Answer> {
  const { token } = session;
  const first = await send<Answer>(token, path, init);
  if (!(first instanceof PickerError)) return first;
  if (!ENDED.includes(first.code)) throw first;
  // Another call may have renewed it meanwhile.
  const state = session.token === token ? await session.renew(first.code) : 'renewed';
  const last = state === 'given up' ? first : await send<Answer>(session.token, path, init);
  if (!(last instanceof PickerError)) return last;
  if (isSessionEnd(last)) session.end(last.code);
  throw last;
}

async function send<Answer>(
  token: string,
  path: string,
  init: RequestInit,
): Promise<Answer | PickerError> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  if (init.body !== undefined) headers.set('content-type', 'application/json');
  const response = await fetch(path, { ...init, headers }).catch(() => undefined);
  init.signal?.throwIfAborted();
  if (response === undefined) return new PickerError('network_error');
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as Answer;
  const { error } = (answer ?? {}) as { error?: { code?: string } };
  const retry_after_seconds = Number(response.headers.get('retry-after')) || 0;
  return new PickerError(error?.code ?? 'network_error', {
    status: response.status,
    retry_after_seconds,
  });
}
