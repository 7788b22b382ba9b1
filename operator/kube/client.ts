/**
 * A typed client of the API server: every call ends within its deadline and returns a value or a failure. What the
 * server asks to be repeated is repeated here; what may have happened already is left to the next pass.
 */
import { parseAnyJson } from '../../runtime/core/json.ts';
import type { Credentials } from './credentials.ts';
import { type Answer, KubeFailure, parseFailure } from './kube-failure.ts';
import type { KubeMetrics } from './metrics.ts';
import { type Attempts, repeat } from './repeat.ts';
import {
  collectionPath,
  type DeclaredObject,
  type KubeObject,
  objectPath,
  type Place,
  type ResourceType,
  type Selection,
} from './resource.ts';
import type { TimedClock } from './timed-clock.ts';
import { createTransport, type Exchange, type Transport } from './transport.ts';
import { openWatch, type Watch, type WatchHandlers, type WatchRequest } from './watch-stream.ts';

export type KubeClient = {
  get<T extends KubeObject>(type: ResourceType<T>, place: Place): Promise<Answer<T>>;
  /** One page of the newest state, or the page after `token`. */
  listPage<T extends KubeObject>(type: ResourceType<T>, query: ListQuery): Promise<Answer<Page<T>>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: DeclaredObject): Promise<Answer<T>>;
  /** Server-side apply: from then on we own the fields that are sent, and no others. */
  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: DeclaredObject,
    as: FieldOwner,
  ): Promise<Answer<T>>;
  /** The same for the status, which has its own field manager. */
  applyStatus<T extends KubeObject>(
    type: ResourceType<T>,
    object: DeclaredObject,
    as: FieldOwner,
  ): Promise<Answer<T>>;
  /** Replaces the whole object, if it still has that version. */
  replace<T extends KubeObject>(type: ResourceType<T>, object: DeclaredObject): Promise<Answer<T>>;
  /**
   * A merge patch; if the body includes `metadata.resourceVersion`, only while that is the object's
   * version.
   */
  merge<T extends KubeObject>(
    type: ResourceType<T>,
    place: Place,
    patch: { body: object; subresource?: 'scale' },
  ): Promise<Answer<T>>;
  /** An object that is already gone counts as a success. */
  delete(type: ResourceType, place: Place, options?: DeleteOptions): Promise<Answer<undefined>>;
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    request: WatchRequest,
    handlers: WatchHandlers<T>,
  ): Watch;
  /** The same connections with another deadline per call. */
  within(deadline_ms: number): KubeClient;
  /** For how long the API server has been answering, without an interruption until now. */
  answering_ms(): number;
  close(): void;
};

export type FieldOwner = {
  /** The field manager: `tintype/project` and the like. */
  owner: string;
  /**
   * `take`, the default: the previous owner of a field loses it. `refuse`: the answer is then
   * Conflict.
   */
  conflicts?: 'take' | 'refuse';
};

export type ListQuery = Selection & {
  /** 0: everything in one answer. */
  limit: number;
  token?: string | undefined;
  signal?: AbortSignal;
};
export type Page<T> = { items: T[]; resource_version: string; token: string | undefined };

export type DeleteOptions = {
  /** Only the object with this uid, not another of the same name. */
  uid?: string;
  /** Only if the object still has this version. */
  version?: string;
};

export type KubeClientOptions = {
  credentials: Credentials;
  clock: TimedClock;
  metrics: KubeMetrics;
  random?: () => number;
  /** For one call, including all its retries. */
  deadline_ms?: number;
};

const DEADLINE_MS = 30_000;

export function createKubeClient(options: KubeClientOptions): KubeClient {
  return createVerbs(options, createTransport(options));
}

function createVerbs(options: KubeClientOptions, transport: Transport): KubeClient {
  const { clock, credentials, random = Math.random, deadline_ms = DEADLINE_MS } = options;
  const attempts: Attempts = { clock, random, deadline_ms, refused: () => credentials.forget() };
  const call = (exchange: Omit<Exchange, 'deadline_ms'>) =>
    repeat(attempts, exchange, (left_ms) =>
      sendOnce(transport, { ...exchange, deadline_ms: left_ms }),
    );
  const one = async <T extends KubeObject>(
    type: ResourceType<T>,
    exchange: Omit<Exchange, 'deadline_ms'>,
  ) => parsed(await call(exchange), (body) => type.parse(body));
  const applyAt =
    (subresource: '' | '/status'): KubeClient['apply'] =>
    (type, object, as) =>
      one(
        type,
        applyExchange(`${objectPath(type, object.metadata)}${subresource}`, {
          ...as,
          body: { ...object, apiVersion: type.apiVersion, kind: type.kind },
        }),
      );
  return {
    get: (type, place) => one(type, { method: 'GET', path: objectPath(type, place) }),
    listPage: async (type, query) => {
      const path = `${collectionPath(type, query.namespace)}?${listParameters(query)}`;
      return parsed(await call({ method: 'GET', path, signal: query.signal }), (body) =>
        parsePage(type, body),
      );
    },
    create: (type, object) =>
      one(type, {
        method: 'POST',
        path: collectionPath(type, object.metadata.namespace),
        body: { ...object, apiVersion: type.apiVersion, kind: type.kind },
      }),
    apply: applyAt(''),
    applyStatus: applyAt('/status'),
    replace: (type, object) =>
      one(type, {
        method: 'PUT',
        path: objectPath(type, object.metadata),
        body: { ...object, apiVersion: type.apiVersion, kind: type.kind },
      }),
    merge: (type, place, { body, subresource }) =>
      one(type, {
        method: 'PATCH',
        path: `${objectPath(type, place)}${subresource === undefined ? '' : `/${subresource}`}`,
        body,
        content_type: 'application/merge-patch+json',
      }),
    delete: async (type, place, wanted = {}) =>
      deleted(await call(deleteExchange(type, place, wanted))),
    watch: (type, request, handlers) =>
      openWatch({ transport, clock, credentials }, { type, ...request }, handlers),
    within: (ms) => createVerbs({ ...options, deadline_ms: ms }, transport),
    ...{ answering_ms: transport.answering_ms, close: transport.close },
  };
}

async function sendOnce(transport: Transport, exchange: Exchange): Promise<Answer<unknown>> {
  const answer = await transport.send(exchange);
  if (!answer.ok) return answer;
  const { status, retry_after } = answer.value;
  const body = parseAnyJson(answer.value.body);
  if (status >= 300) return { ok: false, failure: parseFailure({ status, retry_after, body }) };
  return body === undefined ? malformed('no JSON came') : { ok: true, value: body };
}

function malformed(message: string): Answer<never> {
  return { ok: false, failure: new KubeFailure({ reason: 'Malformed', message }) };
}

function parsed<T>(answer: Answer<unknown>, parse: (body: unknown) => T): Answer<T> {
  if (!answer.ok) return answer;
  try {
    return { ok: true, value: parse(answer.value) };
  } catch (error) {
    return malformed(`the API server sent ${String(error)}`);
  }
}

function applyExchange(
  path: string,
  { owner, conflicts = 'take', body }: FieldOwner & { body: object },
): Omit<Exchange, 'deadline_ms'> {
  const parameters = new URLSearchParams({
    fieldManager: owner,
    force: String(conflicts === 'take'),
  });
  return {
    method: 'PATCH',
    path: `${path}?${parameters}`,
    body,
    content_type: 'application/apply-patch+yaml',
  };
}

function deleteExchange(
  type: ResourceType,
  place: Place,
  { uid, version }: DeleteOptions,
): Omit<Exchange, 'deadline_ms'> {
  const preconditions = { uid, resourceVersion: version };
  return {
    method: 'DELETE',
    path: objectPath(type, place),
    body: { propagationPolicy: 'Background', preconditions },
  };
}

function deleted(answer: Answer<unknown>): Answer<undefined> {
  if (answer.ok || answer.failure.reason === 'NotFound') return { ok: true, value: undefined };
  return answer;
}

function listParameters({ limit, token, labels, fields }: ListQuery): string {
  return String(
    new URLSearchParams({
      limit: String(limit),
      ...(token === undefined ? {} : { continue: token }),
      ...(labels === undefined ? {} : { labelSelector: labels }),
      ...(fields === undefined ? {} : { fieldSelector: fields }),
    }),
  );
}

type ListBody = { metadata?: { resourceVersion?: string; continue?: string }; items?: unknown[] };

function parsePage<T extends KubeObject>(type: ResourceType<T>, body: unknown): Page<T> {
  const { metadata = {}, items }: ListBody = typeof body === 'object' && body !== null ? body : {};
  if (items === undefined || metadata.resourceVersion === undefined) {
    throw new Error('a list without items or version');
  }
  return {
    items: items.map((item) => type.parse(item)),
    resource_version: metadata.resourceVersion,
    token: metadata.continue === '' ? undefined : metadata.continue,
  };
}
