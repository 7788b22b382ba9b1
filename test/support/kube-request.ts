/**
 * Sends requests to the API server of the tests as one of its identities. It does not use the operator's client, so
 * that a bug of the client cannot hide in the setup of a test.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** The URLs and credentials of a control plane, as plain data that other processes can receive. */
export type PlaneAddress = {
  url: string;
  /** The PEM certificate of the API server's own certificate authority. */
  ca: string;
  etcd_url: string;
  tokens: Record<Identity, string>;
};

/** `admin` may do everything, the others nothing until a test binds them to a role. */
export const identities = ['admin', 'operator', 'tenant', 'staff', 'stranger'] as const;
export type Identity = (typeof identities)[number];

export type KubeCall = {
  method?: string;
  path: string;
  body?: unknown;
  content_type?: string;
  accept?: string;
  as?: Identity;
};

export type KubeResponse = { status: number; body: Record<string, unknown> };

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/**
 * Retries when the server asks for it, for example because it reopens the storage of a definition
 * that just changed, or is not ready for the kind yet.
 */
export async function kubeRequest(plane: PlaneAddress, call: KubeCall): Promise<KubeResponse> {
  for (let asked = 1; ; asked += 1) {
    const { retry_after, ...answer } = await requestOnce(plane, call);
    const pause = pauseAfter(answer.status, retry_after);
    if (pause === undefined || asked === ASKED_MAX) return answer;
    await sleep(pause);
  }
}

const ASKED_MAX = 10;
const PAUSE_SECONDS_MAX = 5;

/** Returns milliseconds, or undefined if the response is final. */
function pauseAfter(status: number, retryAfter: string | undefined): number | undefined {
  const isPutOff = status === 429 || (status === 503 && retryAfter !== undefined);
  return isPutOff ? Math.min(Number(retryAfter) || 1, PAUSE_SECONDS_MAX) * 1000 : undefined;
}

type Sent = KubeResponse & { retry_after: string | undefined };

async function requestOnce(plane: PlaneAddress, call: KubeCall): Promise<Sent> {
  const sent = request(`${plane.url}${call.path}`, {
    agent,
    ca: plane.ca,
    method: call.method ?? 'GET',
    headers: {
      authorization: `Bearer ${plane.tokens[call.as ?? 'admin']}`,
      'content-type': call.content_type ?? 'application/json',
      accept: call.accept ?? 'application/json',
    },
  });
  sent.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  const [response] = await once(sent, 'response').catch((error: NodeJS.ErrnoException) => {
    // The server closed the idle connection just before, so it has not seen the request.
    if (sent.reusedSocket && error.code === 'ECONNRESET') return [];
    throw error;
  });
  if (response === undefined) return requestOnce(plane, call);
  const answer = await text(response);
  const retry_after = response.headers['retry-after'];
  return { status: response.statusCode, body: parse(answer), retry_after };
}

type WatchEvent = { type: string; object: Record<string, unknown> };

/**
 * Yields the objects that exist, then their changes, until the server ends the watch or the signal
 * aborts it.
 */
export async function* kubeWatch(
  plane: PlaneAddress,
  { path, signal }: { path: string; signal: AbortSignal },
): AsyncGenerator<WatchEvent> {
  const sent = request(`${plane.url}${path}${path.includes('?') ? '&' : '?'}watch=true`, {
    ...{ agent: false, ca: plane.ca, signal },
    headers: { authorization: `Bearer ${plane.tokens.admin}` },
  });
  sent.end();
  // The response fails as well.
  sent.on('error', () => undefined);
  try {
    const [response] = await once(sent, 'response');
    if (response.statusCode !== 200) throw new Error(`${path}: ${await text(response)}`);
    for await (const line of linesOf(response)) {
      const event = JSON.parse(line) as WatchEvent;
      // The server cannot continue this watch.
      if (event.type === 'ERROR') return;
      yield event;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    sent.destroy();
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const part of response.setEncoding('utf8')) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Returns the body, and throws unless the response is a success. */
export async function kubeOk(
  plane: PlaneAddress,
  call: KubeCall,
): Promise<Record<string, unknown>> {
  const { status, body } = await kubeRequest(plane, call);
  if (status < 300) return body;
  throw new Error(`${call.method ?? 'GET'} ${call.path}: ${status} ${JSON.stringify(body)}`);
}

/** Server-side apply, as in kubectl. */
export function kubeApply(plane: PlaneAddress, path: string, object: unknown) {
  return kubeOk(plane, {
    method: 'PATCH',
    path: `${path}?fieldManager=test&force=true`,
    body: object,
    content_type: 'application/apply-patch+yaml',
  });
}

/** Removes all finalizers of an object. */
export function kubeRelease(plane: PlaneAddress, path: string): Promise<KubeResponse> {
  return kubeRequest(plane, {
    method: 'PATCH',
    path,
    body: { metadata: { finalizers: null } },
    content_type: 'application/merge-patch+json',
  });
}

function parse(answer: string): Record<string, unknown> {
  try {
    return JSON.parse(answer) as Record<string, unknown>;
  } catch {
    return { text: answer };
  }
}
