/**
 * One endpoint of the management API as data: method, path, who may call it, what it takes and answers.
 * The handler sees a checked call and never a header. Spec: Endpoints, Conventions.
 */
import type { z } from 'zod';
import type { ApiErrorCode } from '../core/errors.ts';
import type { InputIssue } from '../core/input-issue.ts';
import { REQUEST_BODY_BYTES_MAX } from '../core/limits.ts';
import type { ProjectRow } from '../db/projects.ts';
import type { Credential, Principal } from './auth/principal.ts';
import type { ApiDeps } from './deps.ts';
import { answerOnce, type Work } from './idempotency.ts';
import { findOwnProject } from './own-project.ts';
import { parseBody, parseQuery } from './parse-input.ts';
import { refuseStaffFields } from './staff-fields.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What an endpoint says of itself: the router and the test matrices are made from it. */
export type EndpointFacts = {
  method: Method;
  /** As the specification prints it, with `{name}` for parameters. */
  path: string;
  auth: readonly Credential[];
  /** The status of success. */
  ok: number;
  /** The distinctive refusals; those that any endpoint can answer are not repeated. */
  errors: readonly ApiErrorCode[];
  body_bytes_max: number;
  /**
   * What a second call with the same Idempotency-Key would do without it: nothing new (`repeatable`), or the same once
   * more (`once`), which is why the work of such an endpoint runs in the transaction that stores its answer.
   */
  effect: 'repeatable' | 'once';
  /** Whose projects it may address: the caller's organization's, or any when the caller is staff. */
  projects: 'own' | 'own, staff any';
  /** Fields that the ETag leaves out, because they move by themselves; null: the answer has no ETag. */
  moving: readonly string[] | null;
  /** How long a success may be kept, as Cache-Control says it. */
  cache_control: string;
};

export type Endpoint = EndpointFacts & {
  body: z.ZodType | null;
  query: z.ZodType | null;
  /** Whose body is not even read as JSON; absent where everybody's is. */
  ignoresBody?: ((principal: Principal) => boolean) | undefined;
  run(call: RawCall): Promise<Answer>;
};

/** A call whose caller is known and whose input is still unchecked. */
export type RawCall = {
  deps: ApiDeps;
  principal: Principal;
  params: Readonly<Record<string, string>>;
  query: unknown;
  /** undefined: no body was sent. */
  body: unknown;
  request_id: string;
  /** Aborted when the caller has gone without an answer. */
  left: AbortSignal;
  /** From where it comes, as rates count it. */
  client: string;
  /** As the header was sent; only POST looks at it. */
  idempotency_key?: string | undefined;
  /** As the header was sent; only writes of what has an ETag look at it. */
  if_match?: string | undefined;
};

export type Answer = { status: number; body: unknown };

/** What a handler returns whose success has another status than the endpoint's usual one. */
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
      'errors' | 'body_bytes_max' | 'effect' | 'projects' | 'moving' | 'cache_control'
    >
  > & {
    body?: z.ZodType<Body>;
    query?: z.ZodType<Query>;
    ignoresBody?: (principal: Principal) => boolean;
    /** Fields of the body that only staff may send, whatever they hold. */
    staffFields?: readonly string[];
  };

/** What no schema can say of an input, by field; named beside what the schema says. */
type Misfits = (sent: Pick<RawCall, 'params' | 'body'> & { project: ProjectRow }) => InputIssue[];

export function endpoint<Body = undefined, Query = undefined>(
  shape: Shape<Body, Query> & { handle(call: Call<Body, Query>): Promise<unknown> },
): Endpoint {
  const described = facts(shape);
  const begin = async (call: RawCall): Promise<Work> => {
    const known = checked(shape, call);
    return async (deps) => answer(shape.ok, await shape.handle({ ...known, deps }));
  };
  return { ...described, run: (call) => answerOnce(described, call, begin) };
}

/** An endpoint below `/v1/projects/{slug}`: its handler gets a project that the caller may address. */
export function projectEndpoint<Body = undefined, Query = undefined, Prepared = undefined>(
  shape: Shape<Body, Query> & {
    misfits?: Misfits;
    /** Asks whoever may be slow, before a transaction opens that would wait for it. */
    prepare?(call: ProjectCall<Body, Query>): Promise<Prepared>;
    handle(call: ProjectCall<Body, Query>, prepared: Prepared): Promise<unknown>;
    /**
     * What this process keeps of the project's past goes here: the handler may work in a transaction that commits after
     * it. Called when that has ended, in whatever way, because a commit that seemed to fail may have been one.
     */
    afterwards?(call: Pick<ProjectCall<Body, Query>, 'deps' | 'project'>): void;
  },
): Endpoint {
  const described = facts(shape);
  const begin = async (call: RawCall, project: ProjectRow): Promise<Work> => {
    const misfits = shape.misfits?.({ ...call, project });
    const known = { ...checked(shape, call, misfits), project };
    const prepared = (await shape.prepare?.(known)) as Prepared;
    return async (deps) => answer(shape.ok, await shape.handle({ ...known, deps }, prepared));
  };
  const run = async (call: RawCall): Promise<Answer> => {
    let project: ProjectRow | undefined;
    try {
      return await answerOnce(described, call, async () => {
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
    effect: shape.effect ?? 'repeatable',
    projects: shape.projects ?? 'own',
    moving: shape.moving ?? null,
    cache_control: shape.cache_control ?? 'no-store',
    body: shape.body ?? null,
    query: shape.query ?? null,
    ignoresBody: shape.ignoresBody,
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
