/**
 * The upload helper on your own server: one endpoint that browsers ask where to send a file, and notify once it is
 * sent. Only this handler holds the API key. Spec: Upload helper codes; Authentication, Rules 7.
 */
import { verifyHelperToken } from '../../core/signing/helper-token.ts';
import type { AbortAnswer, PartsAnswer, RoutesAnswer } from '../protocol.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import { completeUpload } from './complete-upload.ts';
import { prepareUpload } from './prepare-upload.ts';
import { helperRefusal, relayedRefusal, UploadRefusal } from './upload-refusal.ts';
import { readUploadRequest } from './upload-requests.ts';
import type { UploadRouter } from './upload-route.ts';

export type UploadHandlerOptions<Router extends UploadRouter> = {
  readonly router: Router;
  /** The API's origin, such as https://images.example. */
  readonly url: string;
  /** A key of the project with the scopes files:read and files:write. */
  readonly apiKey: string;
  /** The project's slug. */
  readonly project: string;
  /** `proxy`: bytes go through the service, if browsers cannot reach storage; default `direct`. */
  readonly mode?: 'direct' | 'proxy';
  /** How many seconds complete waits for the file; default 30. */
  readonly pollSeconds?: number;
  /** How often a failed call to the service is retried; default 3. */
  readonly retries?: number;
  /** Receives the cause of each 5xx answer; default: console.error. */
  readonly onError?: (error: unknown) => void;
  readonly fetch?: typeof fetch;
};

/** A fetch handler, as Next, Hono, Bun, Deno and workers accept it. */
export type UploadHandler<Router extends UploadRouter = UploadRouter> = {
  (request: Request): Promise<Response>;
  /** Only for the client's types; never set. */
  readonly router?: Router;
};

/** What the actions need. */
export type HelperContext = Pick<
  UploadHandlerOptions<UploadRouter>,
  'router' | 'apiKey' | 'project' | 'mode' | 'pollSeconds'
> & { readonly api: ApiClient };

export function createUploadHandler<Router extends UploadRouter>(
  options: UploadHandlerOptions<Router>,
): UploadHandler<Router> {
  const { onError = logError } = options;
  const context: HelperContext = { ...options, api: createApiClient(options) };
  return async (request) => {
    try {
      const answer = await answerTo(context, request);
      const status = 'status' in answer && answer.status === 'processing' ? 202 : 200;
      return Response.json(answer, { status, headers: { 'cache-control': 'no-store' } });
    } catch (thrown) {
      return refuse(thrown, onError);
    }
  };
}

/** Answers whatever was thrown, even if `onError` throws. */
function refuse(thrown: unknown, onError: (error: unknown) => void): Response {
  const answer = printRefusal(asRefusal(thrown));
  if (answer.status < 500) return answer;
  try {
    onError(thrown);
  } catch (error) {
    logError(thrown);
    logError(error);
  }
  return answer;
}

/** A refusal that no response can hold (status 42, for example) becomes an internal error. */
function printRefusal(refusal: UploadRefusal): Response {
  try {
    return refusal.toResponse();
  } catch (cause) {
    return internal(cause).toResponse();
  }
}

async function answerTo(context: HelperContext, request: Request) {
  if (request.method === 'GET') return describeRoutes(context.router);
  const asked = await readUploadRequest(request);
  if (asked.action === 'prepare') return prepareUpload(context, request, asked);
  const upload = verifyHelperToken(context.apiKey, asked.token, Math.floor(Date.now() / 1000));
  if (upload.outcome === 'invalid_token') throw helperRefusal('invalid_token');
  // A session that has its bytes outlives its expiry, so the service decides.
  if (asked.action === 'complete') return completeUpload(context, upload, asked);
  if (upload.outcome === 'upload_expired') throw helperRefusal('upload_expired');
  const work = asked.action === 'parts' ? signParts : abortUpload;
  return work(context, upload.upload_id);
}

async function signParts({ api, project }: HelperContext, id: string): Promise<PartsAnswer> {
  const path = { slug: project, id };
  const { parts } = await api.call('POST /v1/projects/{slug}/uploads/{id}/parts', { path });
  return { parts };
}

async function abortUpload({ api, project }: HelperContext, id: string): Promise<AbortAnswer> {
  await api.call('POST /v1/projects/{slug}/uploads/{id}/abort', { path: { slug: project, id } });
  return { status: 'aborted' };
}

function describeRoutes(router: UploadRouter): RoutesAnswer {
  const routes = Object.entries(router).map(([name, { accept }]) => [name, { accept }]);
  return { routes: Object.fromEntries(routes) };
}

function asRefusal(thrown: unknown): UploadRefusal {
  if (thrown instanceof UploadRefusal) return thrown;
  if (thrown instanceof ApiError) return relayedRefusal(thrown);
  return internal(thrown);
}

function internal(cause: unknown): UploadRefusal {
  const message = 'The upload handler failed. See the log of the server.';
  return new UploadRefusal({ status: 500, code: 'internal', message, cause });
}

function logError(error: unknown): void {
  console.error('tintype upload handler:', error);
}
