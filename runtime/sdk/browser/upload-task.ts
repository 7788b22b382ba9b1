/** Uploads one file, from prepare to publication. Spec: Upload helper codes; Upload helper constants. */
import type {
  HelperPart,
  HelperPut,
  PrepareAnswer,
  ReadyAnswer,
  SentPart,
  UploadedFile,
} from '../protocol.ts';
import type { Endpoint } from './endpoint.ts';
import { type Arrived, abort, finish, makeKey, prepare, signParts } from './helper-calls.ts';
import { forgetUpload, type StoredFile, type StoredUpload, saveUpload } from './resume-store.ts';
import { isPassing, never, retrying } from './retrying.ts';
import { sendBytes } from './send-bytes.ts';
import { sendParts } from './send-parts.ts';
import { type Failed, settleUpload } from './settle-upload.ts';
import type { TransferControl } from './transfer-control.ts';
import { hasCode } from './upload-error.ts';

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
  /** The upload to resume; null for a new one. */
  readonly stored: StoredUpload | null;
  readonly onProgress: (progress: UploadProgress) => void;
};

/** A session that exists at the service. */
type Session = { readonly id: string; readonly token: string; readonly isStored: boolean };

/** The state of the upload that survives a pause. */
type Begun = Session & {
  readonly send: (signal: AbortSignal) => Promise<readonly SentPart[] | undefined>;
};

/** What is known of the upload when it ends. */
type At = { session: Session | null; arrived: Arrived | null };

/** Sessions for one file in one piece, which starts again if it outwaited its session. */
const SESSIONS_MAX = 4;

export async function runTask(task: Task): Promise<Uploaded<unknown>> {
  for (let sessions = 1; ; sessions += 1) {
    const at: At = { session: task.stored && { ...task.stored, isStored: true }, arrived: null };
    try {
      return await runSession(task, at);
    } catch (error) {
      if (at.session === null) throw error;
      const uploaded = await settle(task, at.session, { arrived: at.arrived, error });
      if (uploaded !== null) return uploaded;
      const isWaiting = !at.session.isStored && at.arrived === null;
      if (!isWaiting || sessions >= SESSIONS_MAX) throw error;
    }
  }
}

async function runSession(task: Task, at: At): Promise<Uploaded<unknown>> {
  const { control, endpoint } = task;
  const begun = await control.run((signal) => begin(task, signal));
  at.session = begun;
  const arrived = { token: begun.token, parts: await control.run(begun.send) };
  at.arrived = arrived;
  noteArrived(task);
  const done = await control.run((signal) => finish(endpoint, arrived, signal));
  await forgetUpload(begun.id);
  return asUploaded(done);
}

/**
 * Like settleUpload, but keeps an upload in parts for a later resume if it was detached, or if only
 * a passing failure stopped it.
 */
async function settle(
  task: Task,
  { id, token, isStored }: Session,
  failed: Pick<Failed, 'arrived' | 'error'>,
): Promise<Uploaded<unknown> | null> {
  const { error } = failed;
  if (isStored && (hasCode(error, 'detached') || isPassing(error))) throw error;
  try {
    const onTaken = () => noteArrived(task);
    const done = await settleUpload(task.endpoint, { ...failed, token, onTaken });
    return done && asUploaded(done);
  } finally {
    await forgetUpload(id);
  }
}

function asUploaded({ upload_id, file, result }: ReadyAnswer): Uploaded<unknown> {
  return { upload_id, file, result };
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

/**
 * If nobody waits for the answer any more, aborts the upload when the answer arrives; otherwise its
 * session would hold room until it expires.
 */
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
  const send = () => sendBytes({ url, headers, bytes: task.file, signal, onProgress });
  await retrying(signal, send).catch((error: unknown) => {
    // The bytes arrived with an earlier try, whose answer was lost or which a pause stopped.
    if (!hasCode(error, 'upload_not_pending')) throw error;
  });
}

function noteArrived(task: Task): void {
  note(task, { phase: 'processing', sent_bytes: task.file.size });
}

/** An error in the page's callback must not fail the upload. */
function note({ file, onProgress }: Task, at: Omit<UploadProgress, 'total_bytes'>): void {
  try {
    onProgress({ ...at, total_bytes: file.size });
  } catch (error) {
    reportError(error);
  }
}
