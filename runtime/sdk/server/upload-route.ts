/**
 * A named route of the upload helper: which files it accepts, who may send them, and what happens when one is
 * published. The middleware's result travels to the hook in the upload's token, readable by the browser and
 * tamper-proof.
 * Spec: Upload helper codes; Authentication, Rules 7.
 */
import type { FileFacts, RouteLimits, UploadedFile } from '../protocol.ts';
import { type MaxSize, parseMaxSize } from './max-size.ts';
import type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';
import { helperRefusal, UploadRefusal } from './upload-refusal.ts';

const SUBTYPES = ['*', 'jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp', 'svg+xml'] as const;

/** A content type that the service accepts, or `image/*` for all of them. */
export type AcceptedType = `image/${(typeof SUBTYPES)[number]}`;

const ACCEPTED: readonly string[] = SUBTYPES.map((subtype) => `image/${subtype}`);

export type Constraint = {
  readonly maxSize?: MaxSize;
  /** A hint for the page; the server does not enforce it. */
  readonly maxCount?: number;
};

/** Where a file goes. With `file_slug` it replaces that file; without one it gets a new slug. */
export type Place = {
  readonly file_slug?: string;
  readonly library?: string;
  readonly folder?: string;
};

type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export type RouteDefinition<Schema, Metadata, Result> = {
  readonly accept: Readonly<Partial<Record<AcceptedType, Constraint>>>;
  /** The schema of the input that the page must send. */
  readonly input?: Schema;
  /** Throw UploadRefusal to refuse. */
  readonly middleware?: (call: {
    readonly request: Request;
    readonly input: OutputOf<Schema>;
    readonly file: FileFacts;
  }) => Metadata | Promise<Metadata>;
  readonly place?: (of: {
    readonly metadata: Metadata;
    readonly file: FileFacts;
  }) => Place | Promise<Place>;
  /** Called at least once for each published upload; its result goes to the page. */
  readonly onUploadComplete?: (done: {
    readonly metadata: Metadata;
    readonly file: UploadedFile;
    readonly upload_id: string;
  }) => Result | Promise<Result>;
};

export type UploadRoute<Input = unknown, Result = unknown> = {
  /** Only for the client's types; never set. */
  readonly types?: { readonly input: Input; readonly result: Result };
  readonly accept: Readonly<Record<string, RouteLimits>>;
  /** Throws a refusal if the route does not accept the file. */
  check(file: FileFacts): void;
  admit(call: {
    request: Request;
    input: unknown;
    file: FileFacts;
  }): Promise<{ metadata: unknown; place: Place }>;
  finish(done: { metadata: unknown; file: UploadedFile; upload_id: string }): Promise<unknown>;
};

export type UploadRouter = Readonly<Record<string, UploadRoute>>;

/**
 * Throws RangeError for an `accept` that no file can match, when the router is created rather than
 * at the first upload.
 */
export function uploadRoute<
  Schema extends StandardSchema | undefined = undefined,
  Metadata extends JsonValue = null,
  Result = null,
>(definition: RouteDefinition<Schema, Metadata, Result>): UploadRoute<InputOf<Schema>, Result> {
  const accept = readAccept(definition.accept);
  return {
    accept,
    check: (file) => checkFile(accept, file),
    admit: (call) => admit(definition, call),
    finish: async ({ metadata, ...done }) => {
      // The token's MAC proves that this is what the middleware returned.
      const known = { ...done, metadata: metadata as Metadata };
      return (await definition.onUploadComplete?.(known)) ?? null;
    },
  };
}

function readAccept(accept: RouteDefinition<never, never, never>['accept']): UploadRoute['accept'] {
  const entries = Object.entries(accept ?? {});
  const wrong = entries.find(([type]) => !ACCEPTED.includes(type));
  if (entries.length > 0 && wrong === undefined) {
    return Object.fromEntries(entries.map(([type, limits]) => [type, limitsOf(limits)]));
  }
  const given = wrong === undefined ? 'nothing' : JSON.stringify(wrong[0]);
  throw new RangeError(`accept names ${given}: the types are ${ACCEPTED.join(', ')}`);
}

function limitsOf({ maxSize, maxCount }: Constraint = {}): RouteLimits {
  const max_bytes = maxSize === undefined ? null : parseMaxSize(maxSize);
  return { max_bytes, max_count: maxCount ?? null };
}

function checkFile(accept: UploadRoute['accept'], file: FileFacts): void {
  const limits = limitsFor(accept, file.content_type);
  if (limits === undefined) {
    throw helperRefusal('unsupported_content_type', { details: { accepted: Object.keys(accept) } });
  }
  const { max_bytes } = limits;
  if (max_bytes !== null && file.size_bytes > max_bytes) {
    throw helperRefusal('file_too_large', { details: { max_bytes } });
  }
}

function limitsFor(accept: UploadRoute['accept'], type: string): RouteLimits | undefined {
  if (Object.hasOwn(accept, type)) return accept[type];
  return type.startsWith('image/') ? accept['image/*'] : undefined;
}

async function admit<Schema extends StandardSchema | undefined, Metadata, Result>(
  { input: schema, middleware, place }: RouteDefinition<Schema, Metadata, Result>,
  call: { request: Request; input: unknown; file: FileFacts },
): Promise<{ metadata: unknown; place: Place }> {
  const { request, file } = call;
  const input = (await readInput(schema, call.input)) as OutputOf<Schema>;
  return refusing(async () => {
    const metadata = ((await middleware?.({ request, input, file })) ?? null) as Metadata;
    return { metadata, place: (await place?.({ metadata, file })) ?? {} };
  });
}

async function readInput(schema: StandardSchema | undefined, sent: unknown): Promise<unknown> {
  if (schema === undefined) return undefined;
  const verdict = await schema['~standard'].validate(sent);
  if (verdict.issues === undefined) return verdict.value;
  const message = verdict.issues.map((issue) => issue.message).join('; ');
  throw helperRefusal('invalid_input', { message });
}

async function refusing<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof UploadRefusal) throw cause;
    throw helperRefusal('middleware_failed', { cause });
  }
}
