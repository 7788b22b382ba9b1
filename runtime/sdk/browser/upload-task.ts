/** One file on its way, from prepare to published. Spec: Upload helper codes; Upload helper constants. */
import type { HelperPart, HelperPut, PrepareAnswer, SentPart, UploadedFile } from '../protocol.ts';
import { abort, type Endpoint, finish, makeKey, prepare, signParts } from './helper-calls.ts';
import { forgetUpload, type StoredFile, type StoredUpload, saveUpload } from './resume-store.ts';
import { isPassing, never, retrying } from './retrying.ts';
import { sendBytes } from './send-bytes.ts';
import { sendParts } from './send-parts.ts';
import type { TransferControl } from './transfer-control.ts';
import { UploadError } from './upload-error.ts';

export type UploadProgress = {
  readonly phase: 'sending' | 'processing';
  readonly sent_bytes: number;
  readonly total_bytes: number;
};

export type Uploaded<Result> = {
  readonly upload_id: string;
  readonly file: UploadedFile;
  /** What the route's `onUploadComplete` returned. */
  readonly result: Result;
};

export type Task = {
  readonly endpoint: Endpoint;
  readonly control: TransferControl;
  readonly route: string | undefined;
  readonly input: unknown;
  readonly part_size: number | undefined;
  readonly file: File;
  readonly described: StoredFile;
  /** Of an upload that goes on; null for a new one. */
  readonly stored: StoredUpload | null;
  readonly onProgress: (progress: UploadProgress) => void;
};

/** A session that is there. */
type Session = { readonly id: string; readonly token: string; readonly isStored: boolean };

/** Where the upload stands: what survives a pause. */
type Begun = Session & {
  readonly send: (signal: AbortSignal) => Promise<readonly SentPart[] | undefined>;
};

export async function runTask(task: Task): Promise<Uploaded<unknown>> {
  const { control, endpoint, file } = task;
  let session: Session | null = task.stored && { ...task.stored, isStored: true };
  try {
    const begun = await control.run((signal) => begin(task, signal));
    session = begun;
    const { id, send, token } = begun;
    const parts = await control.run(send);
    note(task, { phase: 'processing', sent_bytes: file.size });
    const done = await control.run((signal) => finish(endpoint, { token, parts }, signal));
    await forgetUpload(id);
    return { upload_id: done.upload_id, file: done.file, result: done.result };
  } catch (error) {
    if (session !== null) await clear(task, session, error);
    throw error;
  }
}

async function begin(task: Task, signal: AbortSignal): Promise<Begun> {
  if (task.stored !== null) return goOn(task, task.stored, []);
  const { endpoint, route, input } = task;
  const { token, upload_id: id, expires_at, multipart, put } = await ask(task, signal);
  if (multipart === undefined)
    return { id, token, isStored: false, send: (each) => sendWhole(task, put, each) };
  const stored: StoredUpload = {
    id,
    endpoint: endpoint.url,
    route,
    input: JSON.stringify(input),
    token,
    expires_at,
    part_size: multipart.part_size,
    parts: [],
    file: task.described,
  };
  await saveUpload(stored);
  return goOn(task, stored, multipart.parts);
}

/** An answer that nobody waits for any more is given up when it comes: its session would hold room until it expires. */
async function ask(task: Task, signal: AbortSignal): Promise<PrepareAnswer> {
  const { endpoint, route, input, part_size, file } = task;
  const facts = { name: file.name, content_type: file.type, size_bytes: file.size };
  const request = { idempotency_key: makeKey(), file: facts, input, route, part_size };
  const asked = retrying(signal, () => prepare(endpoint, request, never));
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([asked, stopped]);
  } catch (error) {
    void asked.then(({ token }) => abort(endpoint, token)).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function goOn(task: Task, stored: StoredUpload, urls: readonly HelperPart[]): Begun {
  const { id, token, part_size } = stored;
  const sending = {
    file: task.file,
    part_size,
    sent: new Map(stored.parts.map(({ part_number, etag }) => [part_number, etag])),
    sign: (signal: AbortSignal) => retrying(signal, () => signParts(task.endpoint, token, signal)),
    onSent: (parts: readonly SentPart[]) => saveUpload({ ...stored, parts }),
    onProgress: (sent_bytes: number) => note(task, { phase: 'sending', sent_bytes }),
  };
  return { id, token, isStored: true, send: (signal) => sendParts(sending, urls, signal) };
}

async function sendWhole(
  task: Task,
  { url, headers }: HelperPut,
  signal: AbortSignal,
): Promise<undefined> {
  const onProgress = (sent_bytes: number) => note(task, { phase: 'sending', sent_bytes });
  await retrying(signal, () => sendBytes({ url, headers, bytes: task.file, signal, onProgress }));
}

function note({ file, onProgress }: Task, at: Omit<UploadProgress, 'total_bytes'>): void {
  onProgress({ ...at, total_bytes: file.size });
}

/**
 * One in parts that was let go of, or that only what is on the way stopped, can be resumed. Any other gives back the room
 * it holds; the service keeps one whose bytes it has.
 */
async function clear(task: Task, { id, token, isStored }: Session, error: unknown): Promise<void> {
  const isDetached = error instanceof UploadError && error.code === 'detached';
  if (isStored && (isDetached || isPassing(error))) return;
  await abort(task.endpoint, token);
  await forgetUpload(id);
}
