/**
 * `tintype/sdk/browser`: sends files from a page to your server's upload handler, with progress, pause, abort, and
 * resumption after a reload; typed by the handler's routes. No dependencies. Spec: Upload helper codes.
 */
import type { UploadedFile } from '../protocol.ts';
import type { UploadHandler } from '../server/upload-handler.ts';
import type { UploadRoute, UploadRouter } from '../server/upload-route.ts';
import { type Endpoint, endpointAt } from './endpoint.ts';
import {
  describeFile,
  findSame,
  isSameFile,
  listStored,
  type StoredFile,
  type StoredUpload,
} from './resume-store.ts';
import { TransferControl } from './transfer-control.ts';
import { clientError, UploadError } from './upload-error.ts';
import { runTask, type Task, type Uploaded, type UploadProgress } from './upload-task.ts';

export type { Uploaded, UploadedFile, UploadProgress };
export { UploadError };

export type UploaderOptions = {
  /** The address of the upload handler. */
  readonly endpoint: string;
  /** Sent with every call to the handler, such as a CSRF token. */
  readonly headers?: HeadersInit | (() => HeadersInit);
  /** Size of the parts in bytes, at least 5 MiB; default 8 MiB. The service's choice wins. */
  readonly partSize?: number;
};

export type Upload<Result> = {
  /** Rejects with UploadError. */
  readonly done: Promise<Uploaded<Result>>;
  pause(): void;
  resume(): void;
  /**
   * Ends the upload here and on the server. If the service already has all bytes, the file is
   * published, and `done` resolves.
   */
  abort(): void;
  /** Ends the upload only here: a large file continues where it was when it is uploaded again. */
  detach(): void;
};

/** A large upload that an earlier page started. */
export type PendingUpload = Pick<StoredUpload, 'id' | 'route' | 'expires_at'> & {
  readonly name: string;
  readonly size_bytes: number;
  readonly sent_bytes: number;
};

type RouterOf<Handler> = Handler extends UploadHandler<infer Router> ? Router : UploadRouter;
type Names<Handler> = keyof RouterOf<Handler> & string;
type TypesOf<Handler, Name extends Names<Handler>> =
  RouterOf<Handler>[Name] extends UploadRoute<infer Input, infer Result>
    ? { input: Input; result: Result }
    : never;
type Sent<Input> = {
  readonly onProgress?: (progress: UploadProgress) => void;
} & (undefined extends Input ? { readonly input?: Input } : { readonly input: Input });
type Arguments<Input> = undefined extends Input ? [sent?: Sent<Input>] : [sent: Sent<Input>];

export type Uploader<Handler> = {
  /**
   * Uploads a file. A large file that was started before, on any page, with the same input,
   * continues where it was.
   */
  upload<Name extends Names<Handler>>(
    route: Name,
    file: File,
    ...sent: Arguments<TypesOf<Handler, Name>['input']>
  ): Upload<TypesOf<Handler, Name>['result']>;
  pending(): Promise<PendingUpload[]>;
  /** Rejects with `file_mismatch` if it is not the same file. */
  resume(id: string, file: File, sent?: Pick<Sent<undefined>, 'onProgress'>): Upload<unknown>;
};

/** `createUploader<typeof handler>({ endpoint })` takes its types from your handler's routes. */
export function createUploader<Handler extends UploadHandler = UploadHandler>(
  options: UploaderOptions,
): Uploader<Handler> {
  const endpoint = endpointOf(options);
  const shared = { endpoint, part_size: options.partSize };
  return {
    upload: (route, file, ...[sent]) => {
      const { input, onProgress } = (sent ?? {}) as Sent<unknown>;
      const task = { ...shared, route, input, file, onProgress: onProgress ?? ignore };
      const terms = { endpoint: endpoint.url, route, input: JSON.stringify(input) };
      const find = async (described: StoredFile) => (await findSame(terms, described)) ?? null;
      return start(task, find) as Upload<never>;
    },
    pending: async () => (await listStored(endpoint.url)).map(asPending),
    resume: (id, file, { onProgress = ignore } = {}) => {
      const task = { ...shared, route: undefined, input: undefined, file, onProgress };
      return start(task, (described) => findById(endpoint, id, described));
    },
  };
}

type TaskInput = Omit<Task, 'control' | 'described' | 'stored'>;
type Find = (described: StoredFile) => Promise<StoredUpload | null>;

function start(taskInput: TaskInput, find: Find): Upload<unknown> {
  const control = new TransferControl();
  const run = async () => {
    const described = await describeFile(taskInput.file);
    return runTask({ ...taskInput, control, described, stored: await find(described) });
  };
  return {
    done: run(),
    pause: () => control.pause(),
    resume: () => control.resume(),
    abort: () => control.end('aborted'),
    detach: () => control.end('detached'),
  };
}

async function findById(endpoint: Endpoint, id: string, file: StoredFile) {
  const stored = (await listStored(endpoint.url)).find((each) => each.id === id);
  if (stored === undefined || !isSameFile(stored.file, file)) throw clientError('file_mismatch');
  return stored;
}

function asPending({ id, route, expires_at, file, parts, part_size }: StoredUpload): PendingUpload {
  const sent_bytes = Math.min(parts.length * part_size, file.size);
  return { id, route, expires_at, name: file.name, size_bytes: file.size, sent_bytes };
}

function endpointOf({ endpoint, headers = {} }: UploaderOptions): Endpoint {
  return endpointAt(endpoint, typeof headers === 'function' ? headers : () => headers);
}

function ignore(): void {}
