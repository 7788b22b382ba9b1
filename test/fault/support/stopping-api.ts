/**
 * An API process that is killed with the call of each of its uploads at a given step. A call without a step is
 * answered, and its steps are printed. Without a plan, this is an ordinary API.
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
import { killTogether, type Plan } from './killed-together.ts';
import { type Step, watchSteps } from './steps.ts';
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
const together = killTogether(plan);

const listener: RequestListener = (request, response) => {
  if (takesPut(request, response)) return;
  const planned = plan.find(({ upload_id }) => request.url?.includes(upload_id));
  if (planned === undefined) usual(request, response);
  else watchCall(planned, request, response);
};
const server = createApiServer(listener, { ...deps, baseUrl: deps.addresses.baseUrl });
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
process.once('SIGTERM', () => process.exit());

function watchCall(planned: Plan, request: IncomingMessage, response: ServerResponse): void {
  const passed: Step[] = [];
  const onStep = (step: Step) => {
    passed.push(step);
    return together.onStep(planned, step);
  };
  const onCall = (step: Step) => together.onCall(planned, step);
  const buckets = tellHalfway(deps.buckets, onStep);
  const watched = watchSteps({ ...deps, buckets }, onStep, onCall);
  response.once('finish', () => process.stdout.write(`${JSON.stringify(passed)}\n`));
  createApi({ ...deps, ...watched })(request, response);
}

type Tell = (step: Step) => Promise<void> | undefined;

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
