/**
 * An API client written from the specification only. It records every (endpoint, status, code) that it sees, which is
 * compared with the list of rows that no test produces yet.
 */
import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { expectDocumented } from '../../support/documented.ts';
import { noteDelivered, noteSeen } from '../../support/seen.ts';
import { runTintype, type Tintype } from './tintype.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON response of the API; each test asserts its shape.
type Json = any;

export type Answer = {
  status: number;
  headers: Record<string, string>;
  /** Undefined if the body is not JSON. */
  body: Json;
  bytes: Buffer;
};

export type Sent = {
  method: string;
  path: string;
  body?: unknown;
  raw?: Buffer;
  headers?: Record<string, string>;
};

/** The addresses and secrets of a Tintype on one machine, or of a deployment. */
export type Target = {
  instance: Pick<
    Tintype['instance'],
    'api_url' | 'delivery_root_domain' | 'delivery_port' | 'request_signing_secret'
  >;
};

/** Sends one API request. Adds only the content type of a JSON body. */
export async function call(tintype: Target, { method, path, body, raw, headers }: Sent) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await send({
    url: tintype.instance.api_url,
    target: path,
    method,
    headers: { ...json, ...headers },
    bytes: raw ?? printBody(body),
  });
  expectDocumented({ method, path, status: answer.status, body: answer.body });
  noteSeen({ method, path, status: answer.status, code: answer.body?.error?.code ?? null });
  return answer;
}

/** Calls the API with the credentials of a caller. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

export function withKey(tintype: Target, key: string): Caller {
  return (method, path, body) =>
    call(tintype, { method, path, body, headers: { 'x-api-key': key } });
}

export function anonymous(tintype: Target): Caller {
  return (method, path, body) => call(tintype, { method, path, body });
}

/** A Tintype on one machine. */
type Running = Pick<Tintype, 'instance' | 'data'>;

/**
 * A dashboard session: an access token of the identity provider, its subject, and signed writes.
 */
export function withSession(tintype: Running, sub: string): Promise<Caller> {
  return withToken(tintype, ['--sub', sub]);
}

/** A dashboard session of a staff member. */
export function withStaffSession(tintype: Running): Promise<Caller> {
  return withToken(tintype, ['--staff']);
}

async function withToken(tintype: Running, whose: readonly string[]): Promise<Caller> {
  const { stdout } = await runTintype(['token', '--json', '--data', tintype.data, ...whose]);
  const { headers } = JSON.parse(stdout) as { headers: Record<string, string> };
  return withHeaders(tintype, headers);
}

/** A session with the given headers. Writes are signed. */
export function withHeaders(tintype: Target, headers: Record<string, string>): Caller {
  return (method, path, body) => {
    const signature = signWrite(tintype, { method, path, raw: printBody(body) });
    return call(tintype, { method, path, body, headers: { ...headers, ...signature } });
  };
}

function signWrite(
  { instance }: Target,
  { method, path, raw }: { method: string; path: string; raw: Buffer },
): Record<string, string> {
  if (method === 'GET') return {};
  const pathname = path.split('?', 1)[0] ?? '';
  const mac = createHmac('sha256', instance.request_signing_secret);
  mac.update(`${method}\n${pathname}\n`).update(raw);
  return { 'x-request-signature': mac.digest('hex') };
}

type Delivery = {
  project: string;
  /** Sent unchanged, including the query. */
  path: string;
  method?: string;
  headers?: Record<string, string>;
};

/**
 * Sends a request to a delivery host by IP address, because some resolvers do not resolve
 * *.localhost.
 */
export async function deliver(tintype: Target, delivery: Delivery): Promise<Answer> {
  const { delivery_port, delivery_root_domain } = tintype.instance;
  const { project, path, method = 'GET', headers } = delivery;
  const host = `${project}.${delivery_root_domain}:${delivery_port}`;
  const url = `http://127.0.0.1:${delivery_port}`;
  const answer = await send({ url, target: path, method, headers: { ...headers, host } });
  const code = answer.body?.error?.code ?? null;
  noteDelivered({ method, path, status: answer.status, code });
  return answer;
}

/** Sends bytes to a signed URL. Rejections of the storage have no error code. */
export async function put(
  url: string,
  headers: Record<string, string>,
  bytes: Buffer,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  const target = `${pathname}${search}`;
  const answer = await send({ url: origin, target, method: 'PUT', headers, bytes });
  noteSeen({ method: 'PUT', path: target, status: answer.status, code: null });
  return answer;
}

/** Returns the path and query of a URL. */
export function targetOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function printBody(body: unknown): Buffer {
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
}

type Request = {
  url: string;
  target: string;
  method: string;
  headers: Record<string, string>;
  bytes?: Buffer;
};

function send({ url, target, method, headers, bytes }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) };
    const request = requestHttp(url, { method, path: target, headers: { ...length, ...headers } });
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const all = Buffer.concat(chunks);
        const facts = response.headers as Record<string, string>;
        const body = parseBody(facts, all);
        resolve({ status: response.statusCode ?? 0, headers: facts, bytes: all, body });
      });
    });
    request.end(bytes);
  });
}

function parseBody(headers: Record<string, string>, bytes: Buffer): Json {
  const isJson = headers['content-type']?.startsWith('application/json') && bytes.length > 0;
  return isJson ? JSON.parse(bytes.toString('utf8')) : undefined;
}

/** The status and error code, such as `404 not_found`, or only the status, such as `200`. */
export function codeOf({ status, body }: Pick<Answer, 'status' | 'body'>): string {
  return body?.error === undefined ? String(status) : `${status} ${body.error.code}`;
}
