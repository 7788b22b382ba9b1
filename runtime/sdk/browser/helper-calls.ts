/** The four actions of the upload handler, as the browser calls them. Spec: Upload helper codes. */
import type {
  AbortAnswer,
  CompleteAnswer,
  HelperPart,
  PartsAnswer,
  PrepareAnswer,
  PrepareRequest,
  ReadyAnswer,
  SentPart,
} from '../protocol.ts';
import type { Endpoint } from './endpoint.ts';
import { pause, retrying } from './retrying.ts';
import { clientError, readRefusal, UploadError } from './upload-error.ts';

export async function prepare(
  endpoint: Endpoint,
  request: Omit<PrepareRequest, 'action'>,
  signal: AbortSignal,
): Promise<PrepareAnswer> {
  const answer = await post<PrepareAnswer>(endpoint, { action: 'prepare', ...request }, { signal });
  const isWhole = typeof answer.token === 'string' && typeof answer.upload_id === 'string';
  const isPut = typeof answer.put?.url === 'string';
  if (isWhole && (isPut || Array.isArray(answer.multipart?.parts))) return answer as PrepareAnswer;
  throw clientError('invalid_response');
}

/** An idempotency key for the tries of one prepare. Pages without TLS have no `randomUUID`. */
export function makeKey(): string {
  return String(crypto.getRandomValues(new BigUint64Array(2)));
}

/** All bytes of an upload were sent; `parts` for a multipart upload. */
export type Arrived = { readonly token: string; readonly parts?: readonly SentPart[] | undefined };

/** The endpoint itself waits for the file; this pause is for endpoints that do not wait long. */
const ASK_AGAIN_MS = 500;

/** Completes an upload, and repeats the call until its file is published. */
export async function finish(
  endpoint: Endpoint,
  arrived: Arrived,
  signal: AbortSignal,
): Promise<ReadyAnswer> {
  for (;;) {
    const answer = await retrying(signal, () => complete(endpoint, arrived, signal));
    if (answer.status === 'ready') return answer;
    await pause(ASK_AGAIN_MS, signal);
  }
}

async function complete(
  endpoint: Endpoint,
  arrived: Arrived,
  signal: AbortSignal,
): Promise<CompleteAnswer> {
  const body = { action: 'complete', ...arrived };
  const answer = await post<CompleteAnswer>(endpoint, body, { signal });
  const isKnown = answer.status === 'ready' || answer.status === 'processing';
  if (isKnown) return answer as CompleteAnswer;
  throw clientError('invalid_response');
}

export async function signParts(endpoint: Endpoint, token: string, signal: AbortSignal) {
  const answer = await post<PartsAnswer>(endpoint, { action: 'parts', token }, { signal });
  if (Array.isArray(answer.parts)) return answer.parts;
  throw clientError('invalid_response');
}

/** The URL of a part. */
export function partUrl(parts: readonly HelperPart[], number: number): string {
  const part = parts.find(({ part_number }) => part_number === number);
  if (part === undefined) throw clientError('invalid_response');
  return part.url;
}

/**
 * Resolves to null, or to the code that says why the upload was not aborted. Also sent while the
 * page closes.
 */
export async function abort(endpoint: Endpoint, token: string): Promise<string | null> {
  try {
    await post<AbortAnswer>(endpoint, { action: 'abort', token }, { keepalive: true });
    return null;
  } catch (error) {
    return error instanceof UploadError ? error.code : String(error);
  }
}

async function post<Answer>(
  endpoint: Endpoint,
  body: object,
  options: RequestInit,
): Promise<Partial<Answer>> {
  const response = await send(endpoint, body, options);
  const { ok, status } = response;
  const answer: unknown = await response.json().catch(() => null);
  options.signal?.throwIfAborted();
  if (!ok) throw readRefusal(answer, status) ?? clientError('invalid_response', { status });
  if (typeof answer !== 'object' || answer === null) {
    throw clientError('invalid_response', { status });
  }
  return answer;
}

async function send(endpoint: Endpoint, body: object, options: RequestInit): Promise<Response> {
  const headers = new Headers(endpoint.headers());
  headers.set('content-type', 'application/json');
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...options };
  try {
    return await fetch(endpoint.url, init);
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw clientError('network_error', { cause });
  }
}
