/**
 * `tintype/sdk/uppy`: Uppy 5 and its plugin @uppy/aws-s3 over the upload handler: one PUT up to 16 MiB, parts above, and
 * the file that it became. Spec: Upload helper codes; Upload helper constants.
 */
import { HELPER_PARTS_CONCURRENT_MAX } from '../../core/limits.ts';
import type { HelperPart, UploadedFile } from '../protocol.ts';
import {
  type Arrived,
  abort,
  type Endpoint,
  finish,
  makeKey,
  partUrl,
  prepare,
  signParts,
} from './helper-calls.ts';
import { findSame, forgetUpload, type StoredUpload, saveUpload } from './resume-store.ts';
import { never } from './retrying.ts';
import { clientError } from './upload-error.ts';
import {
  asSent,
  asUppys,
  describe,
  factsOf,
  isInParts,
  type Part,
  partSizeOf,
  type UppyFile,
} from './uppy-files.ts';

/** Uppy calls it `key` and keeps it: the token of the upload. */
type Keyed = { key: string; signal?: AbortSignal };

/** What of Uppy itself is called. */
type UppyCore = {
  on(
    event: 's3-multipart:part-uploaded',
    note: (file: { id: string }, part: { PartNumber: number; ETag: string }) => void,
  ): unknown;
  addPreProcessor(work: (ids: string[]) => Promise<void>): void;
  addPostProcessor(work: (ids: string[]) => Promise<void>): void;
  getFile(id: string): UppyFile | undefined;
  setFileState(id: string, state: object): void;
  setFileMeta(id: string, meta: { tintype: UploadedFile }): void;
  emit(event: 'upload-error', file: { readonly id: string } | undefined, error: Error): unknown;
  emit(
    event: 'upload-success',
    file: { readonly id: string } | undefined,
    answer: UppyAnswer,
  ): unknown;
};

type UppyAnswer = { readonly status: number; readonly uploadURL: string };

export type UppyOptions = {
  /** The address of the upload handler. */
  readonly endpoint: string;
  readonly route: string;
  readonly input?: unknown;
  readonly headers?: () => HeadersInit;
};

/** Of the quarter of an hour that they live. */
const URLS_MS = 10 * 60_000;

/** Give `options` to @uppy/aws-s3 and call `connect` with Uppy: each file's `meta.tintype` is what it became. */
export function tintypeForUppy({ endpoint, route, input, headers = () => ({}) }: UppyOptions) {
  const context: Context = {
    to: { url: new URL(endpoint, document.baseURI).href, headers },
    terms: { route, input },
    keys: new Map(),
    whole: new Map(),
    done: new Map(),
    begun: new Map(),
    urls: new Map(),
  };
  return {
    options: optionsOf(context),
    connect: (uppy: UppyCore) => connect(context, uppy),
  };
}

type Context = {
  readonly to: Endpoint;
  readonly terms: { readonly route: string; readonly input: unknown };
  /** By file, until its session is there: who asks for it once more gets the one that an answer which was lost told of. */
  readonly keys: Map<string, string>;
  /** Tokens by file, of those in one piece, of which Uppy completes none. */
  readonly whole: Map<string, string>;
  /** By file. */
  readonly done: Map<string, UploadedFile>;
  /** Of those in parts, by file, with the parts that arrived. */
  readonly begun: Map<string, StoredUpload>;
  /** By token. */
  readonly urls: Map<string, { parts: readonly HelperPart[]; until: number }>;
};

function optionsOf(context: Context) {
  const { to, whole, begun, urls } = context;
  return {
    limit: HELPER_PARTS_CONCURRENT_MAX,
    shouldUseMultipart: isInParts,
    getChunkSize: partSizeOf,
    getUploadParameters: async (file: UppyFile) => {
      const { token, put } = await begin(context, file);
      if (put === undefined) throw clientError('invalid_response');
      whole.set(file.id, token);
      return { method: 'PUT' as const, url: put.url, headers: { ...put.headers } };
    },
    createMultipartUpload: async (file: UppyFile) => {
      const prepared = await begin(context, file);
      const { token, upload_id, multipart } = prepared;
      // A handler that sends bytes through the service has one piece for every size.
      if (multipart === undefined) throw clientError('invalid_response');
      keep(context, token, multipart.parts);
      await remember(context, file.id, {
        ...{ id: upload_id, token, expires_at: prepared.expires_at },
        ...termsOf(context),
        ...{ part_size: multipart.part_size, parts: [], file: await describe(file) },
      });
      return { uploadId: upload_id, key: token };
    },
    signPart: async (
      _: UppyFile,
      { key, partNumber, signal = never }: Keyed & { partNumber: number },
    ) => {
      const known = urls.get(key);
      const isFresh = known !== undefined && known.until > Date.now();
      const parts = isFresh ? known.parts : keep(context, key, await signParts(to, key, signal));
      return { method: 'PUT' as const, url: partUrl(parts, partNumber) };
    },
    listParts: async ({ id }: UppyFile): Promise<Part[]> =>
      (begun.get(id)?.parts ?? []).map(asUppys),
    abortMultipartUpload: async ({ id }: UppyFile, { key }: Keyed) => {
      forget(context, id, key);
      await giveUp(context, id, key);
    },
    completeMultipartUpload: (
      { id }: UppyFile,
      { key, parts, signal = never }: Keyed & { parts: Part[] },
    ) => end(context, id, { arrived: { token: key, parts: parts.map(asSent) }, signal }),
  };
}

function connect(context: Context, uppy: UppyCore): void {
  uppy.on('s3-multipart:part-uploaded', ({ id }, part) => {
    const upload = context.begun.get(id);
    if (upload === undefined) return;
    void remember(context, id, { ...upload, parts: [...upload.parts, asSent(part)] });
  });
  // After a reload, a file that is chosen once more goes on: Uppy asks for the parts of what has a key.
  uppy.addPreProcessor(async (ids) => {
    const files = ids.map((id) => uppy.getFile(id)).filter((file) => file !== undefined);
    for (const file of files.filter(isInParts)) {
      const upload = await findBegun(context, file);
      if (upload === undefined) continue;
      context.begun.set(file.id, upload);
      uppy.setFileState(file.id, { s3Multipart: { key: upload.token, uploadId: upload.id } });
    }
  });
  // What did not arrive is among them too; what the service refuses fails alone.
  uppy.addPostProcessor(async (ids) => {
    const files = ids.map((id) => uppy.getFile(id)).filter((file) => file !== undefined);
    for (const id of ids.filter((each) => !files.some((file) => file.id === each)))
      void giveUp(context, id, take(context, id));
    const publishing = files.map((file) =>
      publish(context, uppy, file).catch((error) => uppy.emit('upload-error', file, error)),
    );
    await Promise.all(publishing);
  });
}

async function begin({ to, terms, keys }: Context, file: UppyFile) {
  const idempotency_key = keys.get(file.id) ?? makeKey();
  keys.set(file.id, idempotency_key);
  const prepared = await prepare(to, { ...terms, idempotency_key, file: factsOf(file) }, never);
  keys.delete(file.id);
  return prepared;
}

function keep({ urls }: Context, token: string, parts: readonly HelperPart[]) {
  urls.set(token, { parts, until: Date.now() + URLS_MS });
  return parts;
}

/** The same file, chosen once more, has the same id. */
function forget({ urls, begun }: Context, id: string, token: string): void {
  urls.delete(token);
  const upload = begun.get(id);
  begun.delete(id);
  if (upload !== undefined) void forgetUpload(upload.id);
}

function remember({ begun }: Context, id: string, upload: StoredUpload): Promise<void> {
  begun.set(id, upload);
  return saveUpload(upload);
}

async function findBegun(context: Context, file: UppyFile): Promise<StoredUpload | undefined> {
  const known = context.begun.get(file.id);
  if (known !== undefined) return known;
  const upload = await findSame(termsOf(context), await describe(file));
  return upload?.part_size === partSizeOf(file) ? upload : undefined;
}

function termsOf({ to, terms: { route, input } }: Context) {
  return { endpoint: to.url, route, input: JSON.stringify(input) };
}

async function end(
  context: Context,
  id: string,
  { arrived, signal }: { arrived: Arrived; signal: AbortSignal },
) {
  const { file } = await finish(context.to, arrived, signal);
  forget(context, id, arrived.token);
  context.done.set(id, file);
  return { location: file.url };
}

/** The token of one in one piece, once: nobody can go on with it. */
function take({ whole }: Context, id: string): string | undefined {
  const token = whole.get(id);
  whole.delete(id);
  return token;
}

/** The service publishes one whose bytes it has all the same, and then the hook has to be called. */
async function giveUp(context: Context, id: string, token: string | undefined): Promise<void> {
  if (token === undefined || (await abort(context.to, token)) !== 'upload_not_pending') return;
  await end(context, id, { arrived: { token }, signal: never }).catch(() => undefined);
}

async function publish(context: Context, uppy: UppyCore, { id, error }: UppyFile): Promise<void> {
  const token = take(context, id);
  if (error) await giveUp(context, id, token);
  else if (token !== undefined) await end(context, id, { arrived: { token }, signal: never });
  const file = context.done.get(id);
  // The same file, chosen once more, has the same id.
  context.done.delete(id);
  if (file === undefined) return;
  uppy.setFileMeta(id, { tintype: file });
  if (!error) return;
  // Its answer was lost, not the file.
  uppy.setFileState(id, { error: null });
  uppy.emit('upload-success', uppy.getFile(id), { status: 200, uploadURL: file.url });
}
