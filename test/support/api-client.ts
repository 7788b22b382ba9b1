/**
 * An API client for tests. It checks the conventions that hold for every response: a request id, no caching, JSON, and
 * the error envelope. Spec: Conventions; Envelope.
 */
import { randomBytes } from 'node:crypto';
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { z } from 'zod';
import { REQUEST_ID_PATTERN } from '../../runtime/core/limits.ts';
import type { ProjectRecord } from '../../runtime/core/resources/project.ts';
import { signRequest } from '../../runtime/core/signing/request-signature.ts';
import type { IdentityProvider } from '../../runtime/standalone/identity-provider.ts';
import { expectDocumented } from './documented.ts';
import { noteSeen } from './seen.ts';

// biome-ignore lint/suspicious/noExplicitAny: a parsed JSON response; each test asserts its shape.
type Json = any;

export type Sent = {
  method?: string;
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged. */
  raw?: Buffer | string;
  headers?: Record<string, string | string[]>;
};

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  body: Json;
};

export const REQUEST_SIGNING_SECRET = 'admin-signing-secret';

/** Sends a request with the caller's credentials. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer>;

type Started = { baseUrl: string; provider: IdentityProvider | undefined };

export function apiClient(started: Started) {
  const send = (sent: Sent) => sendTo(started.baseUrl, sent);
  const sessionHeaders = sessionHeadersOf(started);
  const session = (sub: string): Caller => {
    return async (method, path, body) => {
      const raw = body === undefined ? '' : JSON.stringify(body);
      const headers = await sessionHeaders(sub);
      return send({
        method,
        path,
        raw,
        headers: { ...headers, ...signatureOf(method, path, raw) },
      });
    };
  };
  return {
    send,
    session,
    sessionHeaders,
    anonymous: ((method, path, body) => send({ method, path, body })) as Caller,
    withKey: (secret: string): Caller => {
      return (method, path, body) => send({ method, path, body, headers: { 'x-api-key': secret } });
    },
  };
}

export function signatureOf(method: string, path: string, raw: Buffer | string) {
  const pathname = path.split('?', 1)[0] ?? '';
  const signed = { method, pathname, body: Buffer.from(raw) };
  return { 'x-request-signature': signRequest(REQUEST_SIGNING_SECRET, signed) };
}

export function newSubject(): string {
  return `user_${randomBytes(6).toString('hex')}`;
}

/** Creates a project in the caller's organization. */
export async function createProject(
  caller: Caller,
  settings: Record<string, unknown> = {},
): Promise<ProjectRecord> {
  const project_slug = `p-${randomBytes(6).toString('hex')}`;
  const { status, body } = await caller('POST', '/v1/projects', { project_slug, ...settings });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Creates an API key and returns its secret. */
export async function createKey(
  caller: Caller,
  slug: string,
  scopes?: readonly string[],
): Promise<string> {
  const body = { name: 'server', ...(scopes === undefined ? {} : { scopes }) };
  const answer = await caller('POST', `/v1/projects/${slug}/keys`, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.plaintext_secret;
}

/** The status and error code, such as `404 not_found`, or only the status, such as `200`. */
export function codeOf({ status, body }: Answer): string {
  return body?.error === undefined ? String(status) : `${status} ${body.error.code}`;
}

export function issuesOf({ body }: Answer): string[] {
  return body.error.details.issues.map((issue: { path: string }) => issue.path);
}

/** Expects exactly the fields of the schema, at every depth. */
export function expectRecord(schema: z.ZodType, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}

const TOKEN_SECONDS = 300;
/** A signature costs far more than the call that it is for. */
const TOKEN_REUSED_MS = 60_000;

function sessionHeadersOf(started: Started) {
  const tokens = new Map<string, { token: string; until: number }>();
  return async (sub: string) => {
    const known = tokens.get(sub);
    const isFresh = known !== undefined && Date.now() < known.until;
    const token = isFresh ? known.token : await mint(started, sub);
    if (!isFresh) tokens.set(sub, { token, until: Date.now() + TOKEN_REUSED_MS });
    return { authorization: `Bearer ${token}`, 'x-identity-user-id': sub };
  };
}

async function mint({ provider }: Started, sub: string): Promise<string> {
  return (await provider?.mintToken({ sub, expiresInSeconds: TOKEN_SECONDS })) ?? '';
}

/** Uses node:http, because fetch would normalize the path. */
async function sendTo(baseUrl: string, sent: Sent): Promise<Answer> {
  const { method = 'GET', path, headers = {} } = sent;
  const json = sent.body === undefined ? '' : JSON.stringify(sent.body);
  const bytes = Buffer.from(sent.raw ?? json);
  const { hostname, port } = new URL(baseUrl);
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = bytes.length === 0 || isChunked ? {} : { 'content-length': String(bytes.length) };
  const answer = await new Promise<Omit<Answer, 'body'>>((resolve, reject) => {
    const request = requestHttp(
      { hostname, port, method, path, headers: { ...length, ...headers } },
      (response) => {
        const { statusCode: status = 0 } = response;
        buffer(response)
          .then((bytes) =>
            resolve({ status, headers: response.headers, bytes, text: bytes.toString() }),
          )
          .catch(reject);
      },
    );
    request.on('error', reject).end(bytes);
  });
  const isJson = answer.headers['content-type']?.startsWith('application/json') === true;
  const body = isJson && answer.text !== '' ? JSON.parse(answer.text) : undefined;
  expectPromises({ method, path }, { ...answer, body });
  expectDocumented({ method, path, status: answer.status, body });
  noteSeen({ method, path, status: answer.status, code: body?.error?.code ?? null });
  return { ...answer, body };
}

const envelope = z.strictObject({
  error: z.strictObject({
    code: z.string().regex(/^[a-z0-9_]+$/),
    message: z.string().min(10),
    details: z.unknown().optional(),
  }),
});

/** Responses that may be cached; other tests check for how long. */
const KEPT = /^\/v1\/public\/status$|^\/embed\/_assets\//;

function expectPromises(
  { method, path }: { method: string; path: string },
  { status, headers, text, body }: Answer,
): void {
  expect(headers['x-request-id']).toMatch(REQUEST_ID_PATTERN);
  const isPicture = headers['content-type'] === 'image/webp';
  const kept = isPicture ? 'private, no-store' : 'no-store';
  if (!KEPT.test(path) || status >= 300) expect(headers['cache-control']).toBe(kept);
  expect(headers['x-powered-by']).toBeUndefined();
  if (method === 'HEAD') return;
  const isReadiness = body?.ready === false;
  if (status >= 400 && !isReadiness) envelope.parse(body);
  else
    expect(text === '' || isPicture || path.startsWith('/embed/') || body !== undefined).toBe(true);
}
