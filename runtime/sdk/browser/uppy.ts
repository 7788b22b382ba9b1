/**
 * `tintype/sdk/uppy`: connects Uppy 5 and its plugin @uppy/aws-s3 to the upload handler: one PUT up to 16 MiB, parts
 * above, and the resulting file. Spec: Upload helper codes; Upload helper constants.
 */
import { HELPER_PARTS_CONCURRENT_MAX } from '../../core/limits.ts';
import type { HelperPart, HelperPut, ReadyAnswer, UploadedFile } from '../protocol.ts';
import { type Endpoint, endpointAt } from './endpoint.ts';
import { finish, makeKey, partUrl, prepare, signParts } from './helper-calls.ts';
import { forgetUpload, type StoredUpload, saveUpload } from './resume-store.ts';
import { isPassing, never } from './retrying.ts';
import { settleUpload } from './settle-upload.ts';
import { clientError } from './upload-error.ts';
import {
  asSent,
  asUppys,
  describe,
  factsOf,
  findKept,
  isInParts,
  type Keyed,
  type Part,
  partSizeOf,
  type UppyCore,
  type UppyFile,
} from './uppy-files.ts';

export type UppyOptions = {
  /** The address of the upload handler. */
  readonly endpoint: string;
  readonly route: string;
  readonly input?: unknown;
  readonly headers?: () => HeadersInit;
};

/** Part URLs live for a quarter of an hour. */
const URLS_MS = 10 * 60_000;

/** Pass `options` to @uppy/aws-s3 and Uppy to `connect`: `meta.tintype` is each file's result. */
export function tintypeForUppy({ endpoint, route, input, headers = () => ({}) }: UppyOptions) {
  const context: Context = {
    to: endpointAt(endpoint, headers),
    terms: { route, input },
    keys: new Map(),
    whole: new Map(),
    done: new Map(),
    begun: new Map(),
    refused: new Map(),
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
  /** By file, until its session is known: a repeated prepare gets the session of a lost answer. */
  readonly keys: Map<string, string>;
  /** By file, for files in one piece, which Uppy does not complete. */
  readonly whole: Map<string, Whole>;
  /** By file, for files in parts. */
  readonly done: Map<string, UploadedFile>;
  /** By file, for files in parts, with the parts that arrived. */
  readonly begun: Map<string, StoredUpload>;
  /** By token, for files in parts: why completing failed. */
  readonly refused: Map<string, unknown>;
  /** By token. */
  readonly urls: Map<string, { parts: readonly HelperPart[]; until: number }>;
};

type Whole = { readonly token: string; readonly put: HelperPut; readonly until: number };

function optionsOf(context: Context) {
  const { to, begun, done, refused, urls } = context;
  return {
    limit: HELPER_PARTS_CONCURRENT_MAX,
    shouldUseMultipart: isInParts,
    getChunkSize: partSizeOf,
    getUploadParameters: async (file: UppyFile) => {
      const { put } = await beginWhole(context, file);
      return { method: 'PUT' as const, url: put.url, headers: { ...put.headers } };
    },
    createMultipartUpload: async (file: UppyFile) => {
      // An unreadable file must fail before it gets a session, which nothing would end.
      const described = await describe(file);
      const { token, upload_id, expires_at, multipart } = await begin(context, file);
      // A handler in mode proxy takes files of every size in one piece.
      if (multipart === undefined) throw clientError('invalid_response');
      keep(context, token, multipart.parts);
      await remember(context, file.id, {
        ...{ id: upload_id, token, expires_at },
        ...termsOf(context),
        ...{ part_size: multipart.part_size, parts: [], file: described },
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
    listParts: async ({ id }: UppyFile) => (begun.get(id)?.parts ?? []).map(asUppys),
    abortMultipartUpload: async ({ id }: UppyFile, { key }: Keyed) => {
      // Uppy aborts whatever failed. This upload has all its parts and continues on a retry.
      const error = refused.get(key);
      if (isPassing(error)) return;
      refused.delete(key);
      // Both at once: a closing page does not wait for the local store.
      await Promise.all([forget(context, id, key), giveUp(context, key, error)]);
    },
    completeMultipartUpload: async (
      { id }: UppyFile,
      { key, parts, signal = never }: Keyed & { parts: Part[] },
    ) => {
      try {
        const { file } = await finish(to, { token: key, parts: parts.map(asSent) }, signal);
        await forget(context, id, key);
        done.set(id, file);
        return { location: file.url };
      } catch (error) {
        signal.throwIfAborted();
        refused.set(key, error);
        throw error;
      }
    },
  };
}

function connect(context: Context, uppy: UppyCore): void {
  uppy.on('s3-multipart:part-uploaded', ({ id }, part) => {
    const upload = context.begun.get(id);
    if (upload === undefined) return;
    void remember(context, id, { ...upload, parts: [...upload.parts, asSent(part)] });
  });
  // Uppy itself aborts uploads in parts, because it started them.
  uppy.on('file-removed', ({ id }) => drop(context, id));
  // A file chosen again after a reload continues: Uppy lists the parts of a file with a key.
  uppy.addPreProcessor(async (ids) => {
    for (const id of ids) {
      drop(context, id);
      const file = uppy.getFile(id);
      const upload = file && isInParts(file) ? await findBegun(context, file) : undefined;
      if (upload === undefined) continue;
      context.begun.set(id, upload);
      context.refused.delete(upload.token);
      uppy.setFileState(id, { s3Multipart: { key: upload.token, uploadId: upload.id } });
    }
  });
  // `ids` includes files that did not arrive; a refusal by the service fails only its own file.
  uppy.addPostProcessor(async (ids) => {
    const publishing = ids.map(async (id) => {
      const file = uppy.getFile(id);
      if (file === undefined) return drop(context, id);
      await publish(context, uppy, file).catch((error) => uppy.emit('upload-error', file, error));
    });
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

/** Uppy asks again after a pause; the PUT before it may have sent everything. */
async function beginWhole(context: Context, file: UppyFile): Promise<Whole> {
  const known = context.whole.get(file.id);
  if (known !== undefined && known.until > Date.now()) return known;
  drop(context, file.id);
  const { token, put } = await begin(context, file);
  if (put === undefined) throw clientError('invalid_response');
  const whole = { token, put, until: Date.now() + URLS_MS };
  context.whole.set(file.id, whole);
  return whole;
}

function keep({ urls }: Context, token: string, parts: readonly HelperPart[]) {
  urls.set(token, { parts, until: Date.now() + URLS_MS });
  return parts;
}

/** Choosing the same file again gives it the same id. */
async function forget({ urls, begun }: Context, id: string, token: string): Promise<void> {
  urls.delete(token);
  const upload = begun.get(id);
  begun.delete(id);
  if (upload !== undefined) await forgetUpload(upload.id);
}

function remember({ begun }: Context, id: string, upload: StoredUpload): Promise<void> {
  begun.set(id, upload);
  return saveUpload(upload);
}

async function findBegun(context: Context, file: UppyFile): Promise<StoredUpload | undefined> {
  return context.begun.get(file.id) ?? (await findKept(termsOf(context), file));
}

function termsOf({ to, terms: { route, input } }: Context) {
  return { endpoint: to.url, route, input: JSON.stringify(input) };
}

/** Drops an earlier upload that nobody awaits: the same file, chosen again, has the same id. */
function drop(context: Context, id: string): void {
  const token = context.whole.get(id)?.token;
  context.whole.delete(id);
  context.done.delete(id);
  if (token !== undefined) void giveUp(context, token);
}

/** Returns the answer if the file is published anyway, so that its hook is called. */
function giveUp({ to }: Context, token: string, error?: unknown): Promise<ReadyAnswer | null> {
  return settleUpload(to, { token, arrived: { token }, error }).catch(() => null);
}

async function publish(context: Context, uppy: UppyCore, { id, error }: UppyFile): Promise<void> {
  const token = context.whole.get(id)?.token;
  context.whole.delete(id);
  const file = token === undefined ? context.done.get(id) : await endWhole(context, token, error);
  context.done.delete(id);
  if (file === undefined) return;
  uppy.setFileMeta(id, { tintype: file });
  if (!error) return;
  // Only the answer was lost, not the file.
  uppy.setFileState(id, { error: null });
  if (uppy.getFiles().every((each) => !each.error)) uppy.setState({ error: null });
  uppy.emit('upload-success', uppy.getFile(id), { status: 200, uploadURL: file.url });
}

/** `failure` is Uppy's error of sending the bytes. */
async function endWhole(context: Context, token: string, failure: unknown) {
  if (failure) return (await giveUp(context, token))?.file;
  const arrived = { token };
  try {
    return (await finish(context.to, arrived, never)).file;
  } catch (error) {
    const done = await settleUpload(context.to, { token, arrived, error });
    if (done === null) throw error;
    return done.file;
  }
}
