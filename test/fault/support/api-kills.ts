/**
 * Clients of API processes that are killed during a call: what they send, and how they continue at the next process.
 */
import { MULTIPART_PART_BYTES_MIN } from '../../../runtime/core/limits.ts';
import { freePort } from '../../support/free-port.ts';
import { over, photograph, pngChunk } from '../../support/pictures.ts';
import { must } from '../../support/rows.ts';
import { named, type Place, untilAlone } from './ingest-kills.ts';
import type { Plan } from './killed-together.ts';
import { endWell, type Spawned, startProgram, untilReady } from './spawned.ts';
import type { Step } from './steps.ts';
import type { ApiWords } from './stopping-api.ts';

export const WAYS = ['multipart', 'proxy'] as const;
export type Way = (typeof WAYS)[number];

export type ApiProcess = Spawned & { baseUrl: string; end(): Promise<void> };

/** The API key and project of all calls. */
export type ApiPlace = Place & {
  api_key: string;
  project_slug: string;
  bytes: Record<Way, Buffer>;
};

export type Session = {
  way: Way;
  upload_id: string;
  parts: { part_number: number; etag: string }[];
  put_url: string;
};

/** The outcome of a call; without a status if the connection broke. */
export type Outcome = { status?: number; code?: string; upload_id?: string };

/** The second part is small. */
export const PART_BYTES = MULTIPART_PART_BYTES_MIN;
const BYTES: Record<Way, number> = { multipart: PART_BYTES + 100_000, proxy: 300_000 };

/** The same image for each transfer mode, padded with a PNG chunk that decoders ignore. */
export async function picturesFor(): Promise<ApiPlace['bytes']> {
  const png = await over(photograph(40, 30)).png().toBuffer();
  const padded = (length: number) =>
    Buffer.concat([png.subarray(0, 33), pngChunk('paDd', Buffer.alloc(length)), png.subarray(33)]);
  return { multipart: padded(BYTES.multipart), proxy: padded(BYTES.proxy) };
}

/** Starts a process on a free port, or on the port of an earlier process. */
export async function startApiProcess(
  { url, storage }: Place,
  { plan = [], port }: { plan?: Plan[]; port?: number } = {},
): Promise<ApiProcess> {
  const at = port ?? (await freePort());
  // Names the connections of the process that will be killed; `untilAlone` waits for their end.
  const own = plan.length === 0 ? url : named(url);
  const words: ApiWords = { url: own, storage: storage.words, port: at, plan };
  const spawned = startProgram('stopping-api', words);
  await untilReady(spawned);
  return { ...spawned, baseUrl: `http://127.0.0.1:${at}`, end: () => endWell(spawned) };
}

/** Creates a session and sends everything except the last call. */
export async function begin(place: ApiPlace, baseUrl: string, way: Way): Promise<Session> {
  const input = { content_type: 'image/png', size_bytes: place.bytes[way].length };
  const mode = way === 'proxy' ? { mode: 'proxy' } : { parts: 2 };
  const { body } = await post(place, `${baseUrl}${uploadsOf(place)}`, { ...input, ...mode });
  const { upload_id, multipart, proxy } = body;
  const session = { way, upload_id: must(upload_id), parts: [], put_url: proxy?.put_url ?? '' };
  return way === 'proxy' ? session : sendParts(place, session, must(multipart));
}

type Signed = { part_size: number; parts: { part_number: number; url: string }[] };

export async function sendParts(
  { bytes }: ApiPlace,
  session: Session,
  { part_size, parts }: Signed,
): Promise<Session> {
  const sent = [];
  for (const { part_number, url } of parts) {
    const body = bytes.multipart.subarray((part_number - 1) * part_size, part_number * part_size);
    const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
    if (!answer.ok) throw new Error(`part ${part_number} was not taken: ${await answer.text()}`);
    sent.push({ part_number, etag: answer.headers.get('etag') ?? '' });
  }
  return { ...session, parts: sent };
}

/** Requests new URLs for the parts, like a client that has lost them. */
export async function resign(place: ApiPlace, baseUrl: string, { upload_id }: Session) {
  const { body } = await post(place, `${baseUrl}${uploadsOf(place)}/${upload_id}/parts`);
  return body.parts;
}

/** Sends the last call: the list of parts, or the bytes. */
export async function finish(place: ApiPlace, baseUrl: string, session: Session): Promise<Outcome> {
  const call = session.way === 'proxy' ? putThrough : complete;
  return call(place, baseUrl, session).catch(() => ({}));
}

async function complete(place: ApiPlace, baseUrl: string, { upload_id, parts }: Session) {
  const url = `${baseUrl}${uploadsOf(place)}/${upload_id}/complete`;
  const { status, body } = await post(place, url, { parts });
  return { status, code: body.error?.code, upload_id: body.upload_id };
}

async function putThrough({ bytes }: ApiPlace, baseUrl: string, { put_url }: Session) {
  const { pathname, search } = new URL(put_url);
  const headers = { 'content-type': 'image/png' };
  const body = new Uint8Array(bytes.proxy);
  const answer = await fetch(`${baseUrl}${pathname}${search}`, { method: 'PUT', headers, body });
  const text = await answer.text();
  return { status: answer.status, code: text === '' ? undefined : JSON.parse(text).error.code };
}

const uploadsOf = ({ project_slug }: ApiPlace) => `/v1/projects/${project_slug}/uploads`;

/** The response fields that these tests read. */
type Body = Partial<{
  upload_id: string;
  multipart: Signed;
  proxy: { put_url: string };
  error: { code: string };
}> &
  Pick<Signed, 'parts'>;

async function post({ api_key }: ApiPlace, url: string, body?: object) {
  const headers = { 'x-api-key': api_key, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url, { method: 'POST', headers, ...sent });
  return { status: answer.status, body: (await answer.json()) as Body };
}

/** Returns the steps of the last call of each way in order. */
export async function surveyCalls(
  place: ApiPlace,
  alive: ApiProcess,
): Promise<Record<Way, Step[]>> {
  const multipart = await begin(place, alive.baseUrl, 'multipart');
  const proxy = await begin(place, alive.baseUrl, 'proxy');
  const plan = [multipart, proxy].map(({ upload_id }) => ({ upload_id, stop_at: null }));
  const api = await startApiProcess(place, { plan });
  for (const session of [multipart, proxy]) await finish(place, api.baseUrl, session);
  await api.end();
  const [ofMultipart = '[]', ofProxy = '[]'] = api.lines.slice(-2);
  return { multipart: JSON.parse(ofMultipart), proxy: JSON.parse(ofProxy) };
}

export type Doomed = { session: Session; step: Step };

/** Kills one process during all these calls, each at its step. */
export async function killCalls(place: ApiPlace, doomed: readonly Doomed[]): Promise<void> {
  const plan = doomed.map(({ session, step }) => ({
    upload_id: session.upload_id,
    stop_at: step,
  }));
  const api = await startApiProcess(place, { plan });
  const calls = doomed.map(({ session }) => finish(place, api.baseUrl, session));
  const { signal } = await api.ended;
  if (signal !== 'SIGKILL') throw new Error(`not killed at ${doomed.map(({ step }) => step)}`);
  const heard = (await Promise.all(calls)).filter(({ status }) => status !== undefined);
  if (heard.length > 0) throw new Error(`answered by the dead: ${JSON.stringify(heard)}`);
  await untilAlone(place);
}
