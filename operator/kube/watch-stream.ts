/**
 * One watch: the changes of a collection since a version, line by line, until the server ends it, it breaks, or it is
 * silent for so long that nobody can be at the other end. It never restarts by itself.
 */
import type { IncomingMessage } from 'node:http';
import { isRecord, parseAnyJson } from '../../runtime/core/json.ts';
import type { Credentials } from './credentials.ts';
import { KubeFailure, parseFailure } from './kube-failure.ts';
import { collectionPath, type KubeObject, type ResourceType, type Selection } from './resource.ts';
import type { Cancel, TimedClock } from './timed-clock.ts';
import type { Transport } from './transport.ts';

export type WatchEvent<T> =
  | { kind: 'changed' | 'deleted'; object: T }
  /** Everything up to this version has been sent. */
  | { kind: 'bookmark'; resource_version: string };

export type WatchRequest = Selection & {
  resource_version: string;
  /** After this long the server ends the watch in order. */
  timeout_seconds: number;
};

export type WatchHandlers<T> = {
  /** Called when the server accepts the request. */
  opened(): void;
  event(event: WatchEvent<T>): void;
  /** Called once, last. Undefined: the server ended the watch in order. */
  ended(failure: KubeFailure | undefined): void;
};

export type Watch = { stop(): void };

type Deps = { transport: Transport; clock: TimedClock; credentials: Credentials };
type Wanted<T extends KubeObject> = WatchRequest & { type: ResourceType<T> };

const HEAD_MS_MAX = 15_000;
/** Without a byte for so long a watch counts as broken: bookmarks come about every minute. */
const IDLE_MS_MAX = 90_000;
/** No object in etcd comes near this size: a longer line is not a watch event. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

export function openWatch<T extends KubeObject>(
  deps: Deps,
  wanted: Wanted<T>,
  handlers: WatchHandlers<T>,
): Watch {
  const stopped = new AbortController();
  void begin(deps, wanted, stopped.signal).then((begun) => {
    if (begun instanceof KubeFailure) handlers.ended(begun);
    else follow({ ...deps, ...wanted, response: begun, signal: stopped.signal }, handlers);
  });
  return { stop: () => stopped.abort() };
}

async function begin<T extends KubeObject>(
  { transport, credentials }: Deps,
  wanted: Wanted<T>,
  signal: AbortSignal,
): Promise<IncomingMessage | KubeFailure> {
  const path = `${collectionPath(wanted.type, wanted.namespace)}?${parameters(wanted)}`;
  const opened = await transport.open({ method: 'GET', path, deadline_ms: HEAD_MS_MAX, signal });
  if (!opened.ok) return opened.failure;
  const response = opened.value;
  if (response.statusCode === 200) return response;
  if (response.statusCode === 401) credentials.forget();
  const refusal = await transport.readRest(response, HEAD_MS_MAX);
  if (!refusal.ok) return refusal.failure;
  const { status, retry_after, body } = refusal.value;
  return parseFailure({ status, retry_after, body: parseAnyJson(body) });
}

function parameters({ resource_version, timeout_seconds, labels, fields }: WatchRequest): string {
  return String(
    new URLSearchParams({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: resource_version,
      timeoutSeconds: String(timeout_seconds),
      ...(labels === undefined ? {} : { labelSelector: labels }),
      ...(fields === undefined ? {} : { fieldSelector: fields }),
    }),
  );
}

type Following<T extends KubeObject> = Deps &
  Wanted<T> & { response: IncomingMessage; signal: AbortSignal };

function follow<T extends KubeObject>(on: Following<T>, handlers: WatchHandlers<T>): void {
  const { response, signal, clock } = on;
  let cancelIdle: Cancel = () => undefined;
  let isOver = false;
  const finish = (failure: KubeFailure | undefined) => {
    if (isOver) return;
    isOver = true;
    cancelIdle();
    signal.removeEventListener('abort', stop);
    response.destroy();
    handlers.ended(failure);
  };
  const stop = () => finish(failed('Stopped', 'the caller gave up'));
  const awaitSign = () => {
    cancelIdle();
    cancelIdle = clock.after(IDLE_MS_MAX, () =>
      finish(failed('Timeout', 'nothing came over the watch, not even a bookmark')),
    );
  };
  const lines = createLines((line) => {
    const event = parseEvent(on.type, line);
    if (event instanceof KubeFailure) finish(event);
    else handlers.event(event);
    return isOver ? 'stop' : 'more';
  });
  handlers.opened();
  awaitSign();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  response.on('data', (piece: Buffer) => {
    if (isOver) return;
    awaitSign();
    lines.take(piece);
    if (lines.waiting() > LINE_BYTES_MAX) finish(failed('Malformed', 'a line without an end'));
  });
  response.once('end', () =>
    finish(lines.waiting() === 0 ? undefined : failed('Malformed', 'the last line is cut off')),
  );
  response.on('error', (error) => finish(failed('Unreachable', error.message)));
  response.once('close', () => finish(failed('Unreachable', 'the watch was cut off')));
}

function failed(reason: 'Stopped' | 'Timeout' | 'Malformed' | 'Unreachable', message: string) {
  return new KubeFailure({ reason, message });
}

const NEWLINE = 0x0a;

/** Joins pieces into lines; an event may span many pieces, and a piece may hold many events. */
function createLines(line: (text: string) => 'more' | 'stop') {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (piece: Buffer) => {
    if (piece.length > 0) pieces.push(piece);
    bytes += piece.length;
  };
  const flush = () => {
    const text = Buffer.concat(pieces).toString();
    pieces = [];
    bytes = 0;
    return text;
  };
  return {
    take(piece: Buffer): void {
      let rest = piece;
      for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
        keep(rest.subarray(0, at));
        rest = rest.subarray(at + 1);
        if (line(flush()) === 'stop') return;
      }
      keep(rest);
    },
    waiting: () => bytes,
  };
}

function parseEvent<T extends KubeObject>(
  type: ResourceType<T>,
  line: string,
): WatchEvent<T> | KubeFailure {
  const event = parseAnyJson(line);
  const { type: kind, object } = isRecord(event) ? event : {};
  if (kind === 'ERROR') return parseFailure({ status: codeOf(object), body: object });
  try {
    if (kind === 'BOOKMARK') return { kind: 'bookmark', resource_version: versionOf(object) };
    if (kind === 'ADDED' || kind === 'MODIFIED')
      return { kind: 'changed', object: type.parse(object) };
    if (kind === 'DELETED') return { kind: 'deleted', object: type.parse(object) };
  } catch (error) {
    return failed('Malformed', `an event with ${String(error)}`);
  }
  return failed('Malformed', 'a line that is no event');
}

function codeOf(status: unknown): number {
  const { code } = isRecord(status) ? status : {};
  return typeof code === 'number' ? code : 500;
}

function versionOf(object: unknown): string {
  const { metadata } = isRecord(object) ? object : {};
  const { resourceVersion } = isRecord(metadata) ? metadata : {};
  if (typeof resourceVersion === 'string') return resourceVersion;
  throw new Error('no version');
}
