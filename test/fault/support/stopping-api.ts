/**
 * An API process that is killed with each of its uploads at a given step. The call of each upload stops at its step;
 * once all have stopped, the process kills itself with SIGKILL. A call without a step is answered, and its steps are
 * printed. Without a plan, this is an ordinary API.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createApi } from '../../../runtime/api/app.ts';
import { createApiServer } from '../../../runtime/api/server.ts';
import { createDatabase } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { Bucket, Buckets, ObjectFacts } from '../../../runtime/platform/storage/bucket.ts';
import { folderStorageHandler } from '../../../runtime/platform/storage/folder-server.ts';
import { apiDeps, STORAGE_SECRET } from '../../support/api-deps.ts';
import { openFolderBuckets } from '../../support/folder-buckets.ts';
import { type Step, watchSteps } from './steps.ts';
import type { Plan } from './stopping-worker.ts';
import { openStorage, type StorageWords } from './storages.ts';

export type ApiWords = { url: string; storage: StorageWords; port: number; plan: Plan[] };

/** In the middle of the bytes of an upload through the API. */
export const HALFWAY: Step = 'during the bytes of ingest.write';

const { url, storage, port, plan } = JSON.parse(process.argv[2] ?? '') as ApiWords;
const baseUrl = `http://127.0.0.1:${port}`;
const inFolder = { publicUrl: baseUrl, secret: STORAGE_SECRET };
const folderBuckets =
  storage.kind === 'folder' ? openFolderBuckets(storage.folder, inFolder) : undefined;
const deps = apiDeps({
  db: createDatabase({ url, maxConnections: plan.length + 4, connectTimeoutMs: 30_000 }),
  buckets: folderBuckets ?? openStorage(storage),
  provider: { issuer: baseUrl, jwksUrl: `${baseUrl}/no-keys` },
  lines: [],
  baseUrl,
  staffSubject: 'nobody',
  ingestBytesMax: 50_000_000,
  proxyBytesMax: 50_000_000,
  requestSigningSecret: 'of no dashboard',
  storageEventSecret: 'of no storage',
});
const usual = createApi(deps);
const takesPut = folderStorageHandler({
  buckets: folderBuckets ?? {},
  secret: STORAGE_SECRET,
  clock: systemClock,
});
/** References the stopped calls, so that their resources are not garbage-collected. */
const stopped: Promise<never>[] = [];

const listener: RequestListener = (request, response) => {
  if (takesPut(request, response)) return;
  const planned = plan.find(({ upload_id }) => request.url?.includes(upload_id));
  if (planned === undefined) usual(request, response);
  else watchCall(planned, request, response);
};
const server = createApiServer(listener, { baseUrl: deps.addresses.baseUrl });
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
process.once('SIGTERM', () => process.exit());

function watchCall(planned: Plan, request: IncomingMessage, response: ServerResponse): void {
  const passed: Step[] = [];
  const onStep = (step: Step) => {
    passed.push(step);
    return step === planned.stop_at ? stop() : undefined;
  };
  const watched = watchSteps({ ...deps, buckets: tellHalfway(deps.buckets, onStep) }, onStep);
  response.once('finish', () => process.stdout.write(`${JSON.stringify(passed)}\n`));
  createApi({ ...deps, ...watched })(request, response);
}

function stop(): Promise<never> {
  const forever = Promise.withResolvers<never>().promise;
  stopped.push(forever);
  if (stopped.length === plan.length) process.kill(process.pid, 'SIGKILL');
  return forever;
}

type Tell = (step: Step) => Promise<never> | undefined;

function tellHalfway({ ingest, content }: Buckets, tell: Tell): Buckets {
  const write: Bucket['write'] = (key, body, facts) => {
    const passing = Buffer.isBuffer(body) ? body : Readable.from(passHalf(body, facts, tell));
    return ingest.write(key, passing, facts);
  };
  return { ingest: { ...ingest, write }, content };
}

async function* passHalf(body: Readable, { size_bytes = 0 }: ObjectFacts, tell: Tell) {
  let rest = size_bytes / 2;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    yield chunk;
    const isHalf = rest > 0 && rest <= chunk.length;
    rest -= chunk.length;
    if (isHalf) await tell(HALFWAY);
  }
}
