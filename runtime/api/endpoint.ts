/**
 * One endpoint of the management API as data: method, path, credentials, input and answer.
 * The handler gets a validated call and never sees headers. Spec: Endpoints, Conventions.
 */
import type { z } from 'zod';
import type { ApiErrorCode } from '../core/errors.ts';
import type { InputIssue } from '../core/input-issue.ts';
import { REQUEST_BODY_BYTES_MAX, REQUEST_BODY_VALUES_MAX } from '../core/limits.ts';
import type { ProjectRow } from '../db/projects.ts';
import type { Credential, Principal } from './auth/principal.ts';
import type { ApiDeps } from './deps.ts';
import { answerIdempotently, type IdempotentWork } from './idempotency.ts';
import { findOwnProject } from './own-project.ts';
import { parseBody, parseQuery } from './parse-input.ts';
import { refuseStaffFields } from './staff-fields.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The declared facts of an endpoint, from which the router and the test matrices are built. */
export type EndpointFacts = {
  method: Method;
  /** As in the specification, with `{name}` for parameters. */
  path: string;
  auth: readonly Credential[];
  /** The status of a success. */
  ok: number;
  /** Errors particular to this endpoint, without those that any endpoint can answer. */
  errors: readonly ApiErrorCode[];
  body_bytes_max: number;
  /** How many fields, items, objects and lists its body may have in all. */
  body_values_max: number;
  /**
   * What a repeated call would do without its Idempotency-Key: nothing new (`repeatable`), or the
   * effect a second time (`once`). The work of a `once` endpoint therefore runs in the transaction
   * that stores its answer.
   */
  effect: 'repeatable' | 'once';
  /** The projects it may address: the caller's organization's, or any if the caller is staff. */
  projects: 'own' | 'own, staff any';
  /** Fields left out of the ETag, as they change by themselves; null: the answer has no ETag. */
  moving: readonly string[] | null;
  /** The Cache-Control of a success. */
  cache_control: string;
};

export type Endpoint = EndpointFacts & {
  body: z.ZodType | null;
  query: z.ZodType | null;
  /** True for callers whose body is not even parsed as JSON; absent: every body is parsed. */
  ignoresBody?: ((principal: Principal) => boolean) | undefined;
  /** Counts the call against a rate, before its body is parsed; throws rate_limited. */
  admit?: Admit | undefined;
  run(call: RawCall): Promise<Answer>;
};

type Admit = (call: Pick<RawCall, 'deps' | 'client'>) => Promise<void>;

/** A call with an authenticated caller and unvalidated input. */
export type RawCall = {
  deps: ApiDeps;
  principal: Principal;
  params: Readonly<Record<string, string>>;
  query: unknown;
  /** undefined: the request had no body. */
  body: unknown;
  request_id: string;
  /** Aborted when the caller disconnects before the answer is sent. */
  left: AbortSignal;
  /** The origin of the call as rates count it. */
  client: string;
  /** The header as sent; only POST uses it. */
  idempotency_key?: string | undefined;
  /** The header as sent; only writes of resources with an ETag use it. */
  if_match?: string | undefined;
};

export type Answer = { status: number; body: unknown };

/** Wraps a handler's result that has another success status than the endpoint's usual one. */
export function withStatus(status: number, body: unknown): WithStatus {
  return new WithStatus(status, body);
}

class WithStatus {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

function answer(usual: number, result: unknown): Answer {
  return result instanceof WithStatus ? result : { status: usual, body: result };
}

export type Call<Body, Query> = Omit<RawCall, 'body' | 'query'> & { body: Body; query: Query };
export type ProjectCall<Body, Query> = Call<Body, Query> & { project: ProjectRow };

type Shape<Body, Query> = Pick<EndpointFacts, 'method' | 'path' | 'auth' | 'ok'> &
  Partial<
    Pick<
      EndpointFacts,
      | 'errors'
      | 'body_bytes_max'
      | 'body_values_max'
      | 'effect'
      | 'projects'
      | 'moving'
      | 'cache_control'
    >
  > & {
    body?: z.ZodType<Body>;
    query?: z.ZodType<Query>;
    ignoresBody?: (principal: Principal) => boolean;
    admit?: Admit;
    /** Body fields that only staff may send, whatever their value. */
    staffFields?: readonly string[];
  };

/** Input issues that no schema can express; reported together with the schema's. */
type Misfits = (sent: Pick<RawCall, 'params' | 'body'> & { project: ProjectRow }) => InputIssue[];

export function endpoint<Body = undefined, Query = undefined>(
  shape: Shape<Body, Query> & { handle(call: Call<Body, Query>): Promise<unknown> },
): Endpoint {
  const described = facts(shape);
  const begin = async (call: RawCall): Promise<IdempotentWork> => {
    const known = checked(shape, call);
    return async (deps) => answer(shape.ok, await shape.handle({ ...known, deps }));
  };
  return { ...described, run: (call) => answerIdempotently(described, call, begin) };
}

/** An endpoint below `/v1/projects/{slug}`: its handler gets a project the caller may address. */
export function projectEndpoint<Body = undefined, Query = undefined, Prepared = undefined>(
  shape: Shape<Body, Query> & {
    misfits?: Misfits;
    /** Calls to slow services, made before the transaction opens, which would wait for them. */
    prepare?(call: ProjectCall<Body, Query>): Promise<Prepared>;
    handle(call: ProjectCall<Body, Query>, prepared: Prepared): Promise<unknown>;
    /**
     * Drops what this process has cached about the project. It runs after the whole call, because
     * the handler's transaction may commit after the handler returns, and also after an error,
     * because a commit that seemed to fail may have succeeded.
     */
    afterwards?(call: Pick<ProjectCall<Body, Query>, 'deps' | 'project'>): void;
  },
): Endpoint {
  const described = facts(shape);
  const begin = async (call: RawCall, project: ProjectRow): Promise<IdempotentWork> => {
    const misfits = shape.misfits?.({ ...call, project });
    const known = { ...checked(shape, call, misfits), project };
    const prepared = (await shape.prepare?.(known)) as Prepared;
    return async (deps) => answer(shape.ok, await shape.handle({ ...known, deps }, prepared));
  };
  const run = async (call: RawCall): Promise<Answer> => {
    let project: ProjectRow | undefined;
    try {
      return await answerIdempotently(described, call, async () => {
        project = await findOwnProject(call, described.projects);
        return begin(call, project);
      });
    } finally {
      if (project !== undefined) shape.afterwards?.({ deps: call.deps, project });
    }
  };
  return { ...described, run };
}

function facts<Body, Query>(shape: Shape<Body, Query>): Omit<Endpoint, 'run'> {
  return {
    method: shape.method,
    path: shape.path,
    auth: shape.auth,
    ok: shape.ok,
    errors: shape.errors ?? [],
    body_bytes_max: shape.body_bytes_max ?? REQUEST_BODY_BYTES_MAX,
    body_values_max: shape.body_values_max ?? REQUEST_BODY_VALUES_MAX,
    effect: shape.effect ?? 'repeatable',
    projects: shape.projects ?? 'own',
    moving: shape.moving ?? null,
    cache_control: shape.cache_control ?? 'no-store',
    body: shape.body ?? null,
    query: shape.query ?? null,
    ignoresBody: shape.ignoresBody,
    admit: shape.admit,
  };
}

function checked<Body, Query>(
  shape: Shape<Body, Query>,
  call: RawCall,
  misfits: readonly InputIssue[] = [],
): Call<Body, Query> {
  refuseStaffFields(shape.staffFields ?? [], call);
  return {
    ...call,
    body: parseBody(shape.body, call.body, misfits),
    query: parseQuery(shape.query, call.query),
  };
}
