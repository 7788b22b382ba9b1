/**
 * The management API as an express app: mounts every endpoint with its body limit and its credentials, and answers all
 * errors in one place. Spec: Conventions; Envelope.
 */
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { ServiceError } from '../core/errors.ts';
import { PROXY_UPLOAD_PATH } from '../core/signing/upload-url.ts';
import { authorize } from './auth/authorize.ts';
import { inboundCredential } from './auth/inbound-signature.ts';
import { credentialHeaders } from './auth/presented-credential.ts';
import { presentsCredential } from './auth/presents-credential.ts';
import type { Principal } from './auth/principal.ts';
import { clientNetwork } from './client-network.ts';
import type { ApiDeps } from './deps.ts';
import { documentation } from './documentation/documentation.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { entityTag } from './entity-tag.ts';
import { answerError } from './middleware/answer-error.ts';
import { bodyDeadline } from './middleware/body-deadline.ts';
import { type BodyRoom, createBodyRoom } from './middleware/body-room.ts';
import { dashboardCors } from './middleware/dashboard-cors.ts';
import { marketingCors } from './middleware/marketing-cors.ts';
import { observeRequests } from './middleware/observe-requests.ts';
import { parseJson } from './middleware/parse-json.ts';
import { readBody, refuseUnread } from './middleware/read-body.ts';
import { requestId, requestIdOf } from './middleware/request-id.ts';
import { codedBytes, Page } from './page.ts';
import { allowProxyUpload, proxyUpload } from './proxy-upload.ts';
import { limitWriteRate } from './rates/rates.ts';
import { postAccessRequest } from './routes/public.ts';
import { statusPage } from './status-page/status-page.ts';

export function createApi(deps: ApiDeps): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.set('trust proxy', [...deps.settings.trustedProxies]);
  app.set('case sensitive routing', true).set('strict routing', true);
  disableNotModified(app);
  app.use(requestId, observeRequests(deps));
  app.options(PROXY_UPLOAD, allowProxyUpload).put(PROXY_UPLOAD, proxyUpload(deps));
  app.use(postAccessRequest.path, marketingCors(deps.settings.marketingOrigins));
  const { dashboardOrigins } = deps.settings;
  if (dashboardOrigins.length > 0) app.use('/v1', dashboardCors(dashboardOrigins));
  app.use('/v1/staff', staffApi(deps));
  const room = createBodyRoom();
  for (const each of endpoints.toSorted(byParameters)) mount(app, each, { deps, room });
  app.use(documentation(), statusPage(deps));
  app.use((request) => {
    throw new ServiceError('not_found', {
      message: `There is no ${request.method} ${request.path}. Compare the method and the path with /docs.`,
    });
  });
  app.use(answerError(deps));
  return app;
}

/** Disables Express's own 304: the ETag leaves out moving fields, and `*` would always match. */
function disableNotModified({ request }: Express): void {
  Object.defineProperty(request, 'fresh', { value: false });
}

/**
 * A disabled staff API does not exist for anybody. Answered before the body is read, because a
 * complaint about the body would give it away.
 */
function staffApi({ staff }: Pick<ApiDeps, 'staff'>): RequestHandler {
  return (_request, _response, next) => {
    if (staff.is_enabled) return next();
    throw new ServiceError('not_found');
  };
}

/**
 * Literal paths go before paths with parameters: /embed/_assets/{file} before
 * /embed/{project}/{library}.
 */
function byParameters(left: Endpoint, right: Endpoint): number {
  return left.path.split('{').length - right.path.split('{').length;
}

const PROXY_UPLOAD = `${PROXY_UPLOAD_PATH}:id`;

function mount(
  app: Express,
  endpoint: Endpoint,
  { deps, room }: { deps: ApiDeps; room: BodyRoom },
): void {
  const method = METHODS[endpoint.method];
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const { body_bytes_max } = endpoint;
  const reading = [
    refuseUnread(body_bytes_max),
    refuseStrangers(endpoint, deps),
    bodyDeadline(deps),
    readBody(body_bytes_max, room),
  ];
  app[method](path, reading, (request: Request, response: Response) =>
    call(endpoint, deps, { request, response }),
  );
}

/** Before their body is read, as nothing in it could authenticate them. */
function refuseStrangers(endpoint: Endpoint, deps: ApiDeps): RequestHandler {
  return async (request, response, next) => {
    if (!presentsCredential(endpoint.auth, credentialHeaders(request))) {
      const request_id = requestIdOf(response);
      await identify(endpoint, deps, { request, request_id, bytes: Buffer.alloc(0) });
    }
    next();
  };
}

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

async function call(endpoint: Endpoint, deps: ApiDeps, http: Exchange): Promise<void> {
  const { request, response } = http;
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const request_id = requestIdOf(response);
  const principal = await identify(endpoint, deps, { request, request_id, bytes });
  response.locals['known'] = true;
  const { method } = request;
  const params = namesIn(request as Request<Record<string, string>>);
  await limitWriteRate(deps.rates, { method, principal, project_slug: params['slug'] ?? '' });
  const client = clientNetwork(request);
  await endpoint.admit?.({ deps, client });
  const isRead = endpoint.ignoresBody?.(principal) !== true;
  const { status, body } = await endpoint.run({
    deps,
    principal,
    params,
    query: request.query,
    body: isRead ? parseJson(bytes, termsOf(endpoint)) : undefined,
    request_id,
    left: leftOf(response),
    client,
    idempotency_key: request.get('idempotency-key'),
    if_match: request.get('if-match'),
  });
  response.set('cache-control', endpoint.cache_control);
  if (endpoint.moving !== null && body instanceof Object)
    response.set('etag', entityTag(body, endpoint.moving));
  response.status(status);
  if (body instanceof Page) sendPage(http, body);
  else if (body === undefined) response.end();
  else response.json(body);
}

/** A provider would repeat a signed event in vain if a key that we never read were refused. */
function termsOf({ auth, body_values_max: values_max }: Endpoint) {
  return { values_max, keys: inboundCredential(auth) === undefined ? 'clear' : 'any' } as const;
}

/** Neither names nor PostgreSQL allow U+0000: it is replaced, and the look-up finds nothing. */
function namesIn({ params }: Request<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, value.replaceAll('\0', '\ufffd')]),
  );
}

function leftOf(response: Response): AbortSignal {
  const leaving = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort(new Error('the caller has left'));
  });
  return leaving.signal;
}

function sendPage({ request, response }: Exchange, page: Page): void {
  response.set(page.headers);
  response.end(codedBytes(page, request, response));
}

/** Returns the caller, or throws the refusal after counting a failed authentication. */
function identify(
  endpoint: Endpoint,
  deps: ApiDeps,
  { request, request_id, bytes }: { request: Request; request_id: string; bytes: Buffer },
): Promise<Principal> {
  const { method, ip: address = '' } = request;
  const headers = credentialHeaders(request);
  const signed = { request_id, method, pathname: pathnameOf(request), headers, body: bytes };
  const { auth: allowed } = endpoint;
  return deps.rates.authFailures.run({ allowed, headers, address }, () =>
    authorize(deps, allowed, signed),
  );
}

type Exchange = { request: Request; response: Response };

/** The path as the client wrote it, without the query: the part that a request signature covers. */
function pathnameOf(request: Request): string {
  return request.originalUrl.split('?', 1)[0] ?? '';
}
