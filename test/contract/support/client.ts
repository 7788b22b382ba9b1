/**
 * A client written from the specification alone. It notes every (endpoint, status, code) that it has seen,
 * which is compared with the list of rows that no test has produced yet.
 */
import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { noteSeen } from './seen.ts';
import { runTintype, type Tintype } from './tintype.ts';

// biome-ignore lint/suspicious/noExplicitAny: an answer of the API as JSON; what it must hold is what a test asserts.
type Json = any;

export type Answer<Body = unknown> = {
  status: number;
  headers: Record<string, string>;
  body: Body;
  bytes: Buffer;
};

type Call = {
  method: string;
  path: string;
  body?: unknown;
  raw?: Buffer;
  headers?: Record<string, string>;
};

export async function call<Body = Json>(
  baseUrl: string,
  { method, path, ...rest }: Call,
): Promise<Answer<Body>> {
  const bytes =
    rest.raw ??
    (rest.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(rest.body)));
  const answer = await send({
    url: new URL(path, baseUrl),
    method,
    headers: rest.headers ?? {},
    bytes,
  });
  const body = answer.headers['content-type']?.startsWith('application/json')
    ? JSON.parse(answer.bytes.toString('utf8'))
    : undefined;
  noteSeen({ method, path, status: answer.status, code: body?.error?.code ?? null });
  return { ...answer, body };
}

/** One way of calling the API: everything a caller sends of itself. */
export type Caller = <Body = Json>(
  method: string,
  path: string,
  body?: unknown,
) => Promise<Answer<Body>>;

export function withKey(tintype: Tintype, key: string): Caller {
  return (method, path, body) =>
    call(tintype.instance.api_url, {
      method,
      path,
      body,
      headers: { 'x-api-key': key, ...json(body) },
    });
}

export function anonymous(tintype: Tintype): Caller {
  return (method, path, body) =>
    call(tintype.instance.api_url, { method, path, body, headers: json(body) });
}

/** A dashboard session: a token of the identity provider, its subject, and signed writes. */
export async function withSession(
  tintype: Tintype,
  sub: string,
  ...flags: string[]
): Promise<Caller> {
  const { stdout } = await runTintype([
    'token',
    '--json',
    '--data',
    tintype.data,
    '--sub',
    sub,
    ...flags,
  ]);
  const { headers } = JSON.parse(stdout) as { headers: Record<string, string> };
  const { api_url, request_signing_secret } = tintype.instance;
  return (method, path, body) => {
    const raw = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const signature = signWrite(request_signing_secret, { method, path, raw });
    return call(api_url, {
      method,
      path,
      raw,
      headers: { ...headers, ...json(body), ...signature },
    });
  };
}

function signWrite(
  secret: string,
  { method, path, raw }: { method: string; path: string; raw: Buffer },
): Record<string, string> {
  if (method === 'GET') return {};
  const pathname = path.split('?', 1)[0] ?? '';
  const mac = createHmac('sha256', secret).update(`${method}\n${pathname}\n`).update(raw);
  return { 'x-request-signature': mac.digest('hex') };
}

/** A request to a delivery host, whatever the machine's resolver makes of *.localhost. */
export function deliver(
  tintype: Tintype,
  {
    project,
    path,
    method,
    headers,
  }: { project: string; path: string; method?: string; headers?: Record<string, string> },
): Promise<Omit<Answer, 'body'>> {
  const { delivery_port, delivery_root_domain } = tintype.instance;
  const host = `${project}.${delivery_root_domain}:${delivery_port}`;
  const url = new URL(`http://127.0.0.1:${delivery_port}`);
  return send({
    url,
    method: method ?? 'GET',
    headers: { ...headers, host },
    bytes: Buffer.alloc(0),
    rawPath: path,
  }).then((answer) => {
    noteSeen({
      method: method ?? 'GET',
      path: `delivery:${path}`,
      status: answer.status,
      code: codeOf(answer.bytes),
    });
    return answer;
  });
}

/** Sends bytes exactly as a signed URL wants them. */
export function put(
  url: string,
  headers: Record<string, string>,
  bytes: Buffer,
): Promise<Omit<Answer, 'body'>> {
  return send({ url: new URL(url), method: 'PUT', headers, bytes });
}

function codeOf(bytes: Buffer): string | null {
  try {
    return (JSON.parse(bytes.toString('utf8')) as { error: { code: string } }).error.code;
  } catch {
    return null;
  }
}

function json(body: unknown): Record<string, string> {
  return body === undefined ? {} : { 'content-type': 'application/json' };
}

function send(of: {
  url: URL;
  method: string;
  headers: Record<string, string>;
  bytes: Buffer;
  rawPath?: string;
}): Promise<Omit<Answer, 'body'>> {
  return new Promise((resolve, reject) => {
    const request = requestHttp(of.url, {
      method: of.method,
      path: of.rawPath ?? `${of.url.pathname}${of.url.search}`,
      headers: { 'content-length': String(of.bytes.length), ...of.headers },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    request.end(of.bytes);
  });
}
