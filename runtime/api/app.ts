/**
 * The management API as an express app: mounts every endpoint with its body limit, its credentials and
 * the one way that errors are answered. Spec: Conventions; Envelope.
 */
import express, { type Express, type Request, type Response } from 'express';
import { ServiceError } from '../core/errors.ts';
import { PROXY_UPLOAD_PATH } from '../core/signing/upload-url.ts';
import { authorize } from './auth/authorize.ts';
import type { Principal } from './auth/principal.ts';
import type { ApiDeps } from './deps.ts';
import { documentation } from './documentation/documentation.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { entityTag } from './entity-tag.ts';
import { allowDashboards } from './middleware/allow-dashboards.ts';
import { answerError } from './middleware/answer-error.ts';
import { bodyDeadline } from './middleware/body-deadline.ts';
import { observeRequests } from './middleware/observe-requests.ts';
import { parseJson } from './middleware/parse-json.ts';
import { readBody } from './middleware/read-body.ts';
import { requestId, requestIdOf } from './middleware/request-id.ts';
import { allowProxyUpload, proxyUpload } from './proxy-upload.ts';
import { countFailure, countWrite } from './rates/rates.ts';

export function createApi(deps: ApiDeps): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.set('trust proxy', [...deps.settings.trustedProxies]);
  app.set('case sensitive routing', true).set('strict routing', true);
  app.use(requestId, observeRequests(deps), defaultHeaders);
  app.options(PROXY_UPLOAD, allowProxyUpload).put(PROXY_UPLOAD, proxyUpload(deps));
  const { dashboardOrigins } = deps.settings;
  if (dashboardOrigins.length > 0) app.use('/v1', allowDashboards(dashboardOrigins));
  for (const each of endpoints) mount(app, each, deps);
  app.use(documentation());
  app.use((request) => {
    throw new ServiceError('not_found', {
      message: `There is no ${request.method} ${request.path}.`,
    });
  });
  app.use(answerError(deps));
  return app;
}

const PROXY_UPLOAD = `${PROXY_UPLOAD_PATH}:id`;

function mount(app: Express, endpoint: Endpoint, deps: ApiDeps): void {
  const method = METHODS[endpoint.method];
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const { body_bytes_max } = endpoint;
  const reading = [bodyDeadline(deps.body_ms_max), readBody(body_bytes_max)];
  app[method](path, reading, (request: Request, response: Response) =>
    call(endpoint, deps, { request, response }),
  );
}

const METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

async function call(endpoint: Endpoint, deps: ApiDeps, http: Exchange): Promise<void> {
  const { request, response } = http;
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const principal = await identify(endpoint, deps, { request, bytes });
  const { method, params } = request as Request<Record<string, string>>;
  await countWrite(deps.rates, { method, principal, project_slug: params['slug'] ?? '' });
  const isRead = endpoint.ignoresBody?.(principal) !== true;
  const { status, body } = await endpoint.run({
    deps,
    principal,
    params,
    query: request.query,
    body: isRead ? parseJson(bytes) : undefined,
    request_id: requestIdOf(response),
    idempotency_key: request.get('idempotency-key'),
    if_match: request.get('if-match'),
  });
  if (endpoint.moving !== null && body instanceof Object)
    response.set('etag', entityTag(body, endpoint.moving));
  if (body === undefined) response.status(status).end();
  else response.status(status).json(body);
}

/** The caller, or a refusal that is counted. */
async function identify(
  endpoint: Endpoint,
  deps: ApiDeps,
  { request, bytes }: { request: Request; bytes: Buffer },
): Promise<Principal> {
  const { method, headers, ip = '' } = request;
  const pathname = pathnameOf(request);
  try {
    return await authorize(deps, endpoint.auth, { method, pathname, headers, body: bytes });
  } catch (error) {
    await countFailure(deps.rates, error, ip);
    throw error;
  }
}

type Exchange = { request: Request; response: Response };

/** As the client wrote it, without the query: what a request signature covers. */
function pathnameOf(request: Request): string {
  return request.originalUrl.split('?', 1)[0] ?? '';
}

function defaultHeaders(_request: Request, response: Response, next: () => void): void {
  response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  next();
}
