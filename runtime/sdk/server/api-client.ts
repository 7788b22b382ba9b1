/**
 * A client of the management API for server code, typed from the OpenAPI document. Failed calls are retried where that
 * is safe: a POST carries an Idempotency-Key. Spec: Endpoints, Conventions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { IDEMPOTENCY_REPEAT_SECONDS } from '../../core/limits.ts';
import { readApiKey, readOrigin } from './address.ts';
import { ApiError, readApiError } from './api-error.ts';
import type { Operations } from './api-types.ts';

export type ApiClientOptions = {
  /** The API's origin, such as https://images.example. */
  readonly url: string;
  readonly apiKey: string;
  /**
   * How often a failed call is retried; default 3. Unless it is 0, a call of which an earlier try is still in progress
   * is repeated for 70 seconds, which do not count.
   */
  readonly retries?: number;
  /** Timeout of each try; default 30 seconds. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
};

export type ApiClient = {
  /** Throws ApiError for every refusal, and TypeError for a call that cannot be sent. */
  call<Name extends keyof Operations>(
    name: Name,
    ...input: InputArguments<Operations[Name]>
  ): Promise<Operations[Name]['answer']>;
};

/** The input of a call: `path`, `query` and `body` as its operation requires. */
export type OperationInput<Operation> = Omit<Operation, 'answer'> & {
  /** Reuse a key to make a repetition the same call for a day. By default a POST gets a new one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

type InputArguments<Operation> =
  Record<never, never> extends Omit<Operation, 'answer'>
    ? [input?: OperationInput<Operation>]
    : [input: OperationInput<Operation>];

export function createApiClient(options: ApiClientOptions): ApiClient {
  return {
    call: async (name, ...[input = {}]) => {
      const { body } = await sendWithRetries(options, prepare(options, name, input));
      return body as never;
    },
  };
}

type Sent = {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal;
};
type Answered = { body: unknown };
type Prepared = {
  target: URL;
  init: RequestInit;
  signal: AbortSignal | undefined;
  /** Whether the call may be sent again after its answer was lost. */
  is_repeatable: boolean;
  gone_code: string | undefined;
};

/**
 * The code that a repeated DELETE gets after the first one succeeded. For files and recipes,
 * repetitions succeed.
 */
const GONE_CODES: Readonly<Record<string, string>> = {
  'DELETE /v1/projects/{slug}/libraries/{lib}': 'library_not_found',
  'DELETE /v1/projects/{slug}/watermark-presets/{id}': 'not_found',
} satisfies Partial<Record<keyof Operations, string>>;

const RETRIES = 3;
const TIMEOUT_MS = 30_000;
const FIRST_WAIT_MS = 250;
/** If a server asks for a longer wait, its refusal is thrown instead. */
const WAIT_SECONDS_MAX = 60;
const IN_PROGRESS = 'idempotency_in_progress';

function prepare({ url, apiKey }: ApiClientOptions, name: string, sent: Sent): Prepared {
  const [, method, template] = /^([A-Z]+) (\/.*)$/.exec(name) ?? [];
  if (method === undefined || template === undefined) {
    throw new TypeError(`'${name}' is not an operation: ${OPERATION_HELP}`);
  }
  const target = new URL(fillIn(template, sent.path ?? {}), readOrigin('url', url));
  for (const [key, value] of Object.entries(sent.query ?? {})) {
    if (value !== undefined) target.searchParams.set(key, String(value));
  }
  const headers = new Headers({ 'x-api-key': readApiKey(apiKey), accept: 'application/json' });
  if (method === 'POST') {
    headers.set('idempotency-key', sent.idempotencyKey ?? crypto.randomUUID());
  }
  // A PUT without an id creates something new each time, and a repetition finds the name taken.
  const is_repeatable = method !== 'PUT' || template.endsWith('}');
  const call = { target, signal: sent.signal, is_repeatable, gone_code: GONE_CODES[name] };
  if (sent.body === undefined) return { ...call, init: { method, headers } };
  headers.set('content-type', 'application/json');
  return { ...call, init: { method, headers, body: JSON.stringify(sent.body) } };
}

const OPERATION_HELP = 'write its method and its path, such as GET /v1/projects/{slug}/files';

function fillIn(template: string, path: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // URLs drop dot segments, so the rest would address something else.
    if (value === undefined || ['', '.', '..'].includes(value)) {
      throw new TypeError(`path.${name} is missing or not a name`);
    }
    return encodeURIComponent(value);
  });
}

async function sendWithRetries(options: ApiClientOptions, call: Prepared): Promise<Answered> {
  const { retries = RETRIES } = options;
  let freeAt: number | undefined;
  let wasLost = false;
  for (let attempts = 0; ; ) {
    const answer = await send(options, call);
    if (!(answer instanceof ApiError)) return answer;
    // A 404 of a proxy has another code, so it does not count as deleted.
    if (wasLost && answer.code === call.gone_code) return { body: undefined };
    wasLost ||= mayHaveArrived(answer);
    const wait = call.is_repeatable || answer.status === 429 ? waitOf(answer, attempts) : undefined;
    const isInProgress = answer.code === IN_PROGRESS && retries > 0;
    if (isInProgress) freeAt ??= performance.now() + IDEMPOTENCY_REPEAT_SECONDS * 1000;
    const isWaitedFor = isInProgress && performance.now() <= (freeAt ?? 0);
    if (wait === undefined || (attempts >= retries && !isWaitedFor)) throw answer;
    if (!isWaitedFor) attempts += 1;
    await sleep(wait, undefined, call.signal && { signal: call.signal }).catch(() => undefined);
    call.signal?.throwIfAborted();
  }
}

/** Errors of Node's fetch for a connection that was never established. */
const UNSENT_CODES: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Whether the service may have performed the failed call. */
function mayHaveArrived({ status, cause }: ApiError): boolean {
  if (status !== null) return status >= 500;
  const reason = cause instanceof Error ? cause.cause : undefined;
  return !(reason instanceof Error && 'code' in reason && UNSENT_CODES.includes(reason.code));
}

/** An answer that breaks off midway also counts as unreachable. */
async function send(options: ApiClientOptions, call: Prepared): Promise<Answered | ApiError> {
  const { fetch: ask = fetch, timeoutMs = TIMEOUT_MS } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]);
  try {
    const response = await ask(call.target, { ...call.init, signal });
    if (!response.ok) return await readApiError(response);
    return { body: response.status === 204 ? undefined : await response.json() };
  } catch (cause) {
    call.signal?.throwIfAborted();
    const message = `The image service at ${call.target.origin} could not be reached.`;
    return new ApiError({ status: null, code: 'api_unreachable', message, cause });
  }
}

/** How long to wait before the next try, in milliseconds; undefined if retrying would not help. */
function waitOf(
  { status, code, retry_after_seconds }: ApiError,
  attempts: number,
): number | undefined {
  const isPassing = status === null || status === 429 || status >= 500;
  if (!isPassing && code !== IN_PROGRESS) return undefined;
  const own = FIRST_WAIT_MS * 2 ** attempts * (0.75 + Math.random() / 2);
  if (retry_after_seconds === undefined) return own;
  return retry_after_seconds > WAIT_SECONDS_MAX ? undefined : retry_after_seconds * 1000;
}
