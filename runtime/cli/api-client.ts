/** The few API calls that the command makes, as a server or as a person; a refusal becomes a line for the terminal. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IDEMPOTENCY_REPEAT_SECONDS } from '../core/limits.ts';
import { signRequest } from '../core/signing/request-signature.ts';
import { insist } from './insist.ts';
import { Refused } from './refused.ts';

export type Api = {
  get<Body>(path: string): Promise<Body>;
  post<Body>(path: string, body?: object): Promise<Body>;
};

/** The headers that identify the caller. */
export type Credentials = (call: Call) => Record<string, string>;
type Call = { method: string; pathname: string; body: Uint8Array };

export function apiKey(key: string): Credentials {
  return () => ({ 'x-api-key': key });
}

/** A dashboard session: its headers, and a signature on every write. */
export function session(texts: Record<string, string>, signingSecret: string): Credentials {
  // UTF-8 bytes as Latin-1 characters: fetch accepts no others in a header.
  const headers = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('latin1')]),
  );
  return (call) => {
    if (call.method === 'GET') return headers;
    return { ...headers, 'x-request-signature': signRequest(signingSecret, call) };
  };
}

/** Insists on every call, which is repeated with the same Idempotency-Key. */
export function createApi(baseUrl: string, credentials: Credentials): Api {
  const ask = async <Body>(method: string, path: string, sent?: object): Promise<Body> => {
    const key = { 'idempotency-key': randomUUID() };
    const send = createSend(baseUrl, (call) => ({ ...credentials(call), ...key }), insist);
    return (await (await send(method, path, sent)).json()) as Body;
  };
  return {
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body),
  };
}

type Reach = typeof insist;
const once: Reach = (work) => work();

/** Sends any request with these credentials, `sent` as JSON; throws if it is refused. */
export function createSend(baseUrl: string, credentials: Credentials, reach: Reach = once) {
  return async (method: string, path: string, sent?: unknown): Promise<Response> => {
    const url = new URL(path, baseUrl);
    const body = sent === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(sent));
    const request = () => ({
      method,
      headers: {
        'content-type': 'application/json',
        ...credentials({ method, pathname: url.pathname, body }),
      },
      ...(sent === undefined ? {} : { body }),
    });
    const ask = () =>
      reach(() => fetch(url, request())).catch((cause: unknown) => {
        const advice = `${baseUrl} does not answer: is Tintype running? Start it with \`make up\``;
        throw new Refused('network_error', advice, { cause });
      });
    const response = await withRetries(ask);
    if (response.ok) return response;
    throw new Refusal(await readRefusal(response), response);
  };
}

const PATIENCE_SECONDS_MAX = 60;
const TURNS_MAX = 5;

/**
 * Waits and retries when asked to: a folder of many files may be faster than the service allows, and an earlier try of
 * the same call may still be in progress.
 */
async function withRetries(ask: () => Promise<Response>): Promise<Response> {
  let freeAt: number | undefined;
  for (let turn = 1; ; turn += 1) {
    const response = await ask();
    const seconds = Number(response.headers.get('retry-after') ?? 'none');
    if (response.ok || !(seconds <= PATIENCE_SECONDS_MAX)) return response;
    const isWaitedFor = await isInProgress(response);
    if (isWaitedFor) freeAt ??= performance.now() + IDEMPOTENCY_REPEAT_SECONDS * 1000;
    if (turn >= TURNS_MAX) {
      if (!isWaitedFor || performance.now() > (freeAt ?? 0)) return response;
      sayOnce();
    }
    await response.body?.cancel();
    await sleep(seconds * 1000);
  }
}

const IN_PROGRESS = 'idempotency_in_progress';

async function isInProgress(response: Response): Promise<boolean> {
  return (await readRefusal(response.clone())).code === IN_PROGRESS;
}

/** Several files meet the same restart. */
let isSaid = false;

function sayOnce(): void {
  if (isSaid) return;
  isSaid = true;
  process.stderr.write(
    `Tintype has not finished an earlier try, or was stopped during it. Waiting up to ${IDEMPOTENCY_REPEAT_SECONDS} seconds for it …\n`,
  );
}

/** Sentences for a terminal, where nobody has seen the headers that the API's sentence names. */
const SENTENCES: Readonly<Record<string, string>> = {
  [IN_PROGRESS]:
    'Tintype has not finished an earlier try of this call, and may still do so. See in a minute whether the file is there, and upload it again if it is not.',
};

/** The API's refusal; for its own faults with the id that finds them in its log. */
export class Refusal extends Refused {
  override readonly name = 'Refusal';

  constructor({ code, message, details }: Envelope['error'], { status, headers }: Response) {
    const found = status < 500 ? '' : ` (x-request-id ${headers.get('x-request-id')})`;
    const sentence = SENTENCES[code] ?? fillIn(message, details);
    super(code, `${sentence}${printDetails(details, sentence)}${found}`);
  }
}

type Envelope = { error: { code: string; message: string; details?: Details } };
type Details = Readonly<Record<string, unknown>>;

/** Replaces references to `details` in a sentence by their values. */
function fillIn(message: string, details: Details = {}): string {
  return message.replaceAll(/(in )?details\.(\w+)/g, (reference, before: string, name: string) => {
    const value = details[name];
    // Lists follow after the sentence.
    if (before && Array.isArray(value)) return 'here';
    const isPlain = typeof value === 'string' || typeof value === 'number';
    return isPlain ? `${before ?? ''}${value}` : reference;
  });
}

/** The details in words, without those that the sentence already contains. */
function printDetails(details: Details | undefined, message: string): string {
  const words = Object.entries(details ?? {}).flatMap(([name, value]) => {
    if (name === 'issues' && Array.isArray(value)) return value.map(printIssue);
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    return message.includes(text) ? [] : [`${name} ${text}`];
  });
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}

/** The body as a whole has no path. */
function printIssue({ path = '', message }: { path?: string; message?: string }): string {
  return path === '' ? `${message}` : `${path}: ${message}`;
}

async function readRefusal(response: Response): Promise<Envelope['error']> {
  const answer = (await response.json().catch(() => undefined)) as Envelope | undefined;
  if (answer?.error !== undefined) return answer.error;
  const message = `The address answered ${response.status}, but the response is not from Tintype. Check what listens there.`;
  return { code: 'invalid_response', message };
}
