/**
 * `tintype call`: one request to the API, signed as the dashboard would send it for a person, and its response. Spec:
 * Credentials, BrowserSession.
 */
import { parseAnyJson } from '../core/json.ts';
import { Advice } from '../platform/advice.ts';
import { type Instance, requireInstance } from '../platform/instance.ts';
import { createSend, session } from './api-client.ts';

type Wanted = {
  method: string;
  path: string;
  /** As it was typed. */
  body: string | undefined;
};

type CallOptions = {
  data: string;
  /** Headers of a session of the caller. */
  mintSession(instance: Instance): Promise<Record<string, string>>;
};

export async function call(wanted: Wanted, { data, mintSession }: CallOptions): Promise<void> {
  const method = parseMethod(wanted.method);
  const path = parsePath(wanted.path);
  if (method === 'GET' && wanted.body !== undefined)
    throw usageError('a GET has no body: leave it out');
  const body = wanted.body === undefined ? undefined : parseBody(wanted.body);
  const instance = await requireInstance(data);
  const credentials = session(await mintSession(instance), instance.request_signing_secret);
  const send = createSend(instance.api_url, credentials);
  const response = await send(method, path, body);
  process.stdout.write(await printAnswer(response));
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function parseMethod(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw usageError(`${text} is not a method: use ${METHODS.join(', ')}`);
}

const ANY_ORIGIN = 'http://tintype.invalid';

/**
 * Refuses a path that leads to another host in any spelling: URLs take `\` for `/`, and ignore a
 * tab. The session is sent only to the Tintype that it belongs to.
 */
function parsePath(text: string): string {
  if (text.startsWith('/') && URL.parse(text, ANY_ORIGIN)?.origin === ANY_ORIGIN) return text;
  throw usageError(`${text} is not a path of the API: write one such as /v1/me`);
}

function parseBody(text: string): unknown {
  const body = parseAnyJson(text);
  if (body !== undefined) return body;
  throw usageError(`the body is not JSON: write one such as '{"name":"Shop"}'`);
}

function usageError(message: string): Advice {
  return new Advice(message, { exitCode: 2 });
}

/** JSON is indented for the reader, anything else printed byte for byte. */
async function printAnswer(response: Response): Promise<string | Buffer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return isJson ? `${JSON.stringify(JSON.parse(bytes.toString()), null, 2)}\n` : bytes;
}
