/** Uploads from the picker, three at a time: from a row in the list to a published image. */
import {
  abortUpload,
  completeUpload,
  createUpload,
  getUpload,
  isSessionEnd,
  type LibraryFile,
  type LibraryUpload,
  PickerError,
} from './library-api.ts';
import { putFile } from './put-file.ts';
import { randomName } from './random-name.ts';
import { isPassing, pause, retryCall } from './retry-call.ts';
import type { Session } from './session.ts';

export type UploadRow = {
  readonly id: number;
  readonly file: File;
  status: 'queued' | 'sending' | 'processing' | 'ready' | 'failed' | 'canceled';
  /** 0 to 1. */
  share: number;
  code: string | null;
  /** The service's upload id, until the service has reported how the upload ended. */
  upload_id: string | null;
  /** The same for every try to begin one upload; a new upload gets a new key. */
  create_key: string;
  result: LibraryFile | null;
};

export type UploadEvents = {
  /** Called when a row changes or is added or removed. */
  readonly onChange: (row: UploadRow) => void;
  /** Called after `onChange` if the row's status has changed. */
  readonly onStatus: (row: UploadRow) => void;
};

const AT_ONCE = 3;
const POLL_MS_FIRST = 250;
const POLL_MS_MAX = 2000;

export class Uploads {
  rows: UploadRow[] = [];
  #number = 0;
  readonly #controllers = new Map<number, AbortController>();
  readonly #session: Session;
  readonly #events: UploadEvents;

  constructor(session: Session, events: UploadEvents) {
    this.#session = session;
    this.#events = events;
  }

  /** The limit for one file. */
  get max_bytes(): number {
    return this.#session.facts.max_file_bytes;
  }

  /** Known without a request; the service accepts less for some types. */
  isTooLarge({ size }: File): boolean {
    return size > this.max_bytes;
  }

  add(files: readonly File[]): void {
    for (const file of files) {
      this.#number += 1;
      const row: UploadRow = {
        ...{ id: this.#number, file, ...FRESH },
        ...{ upload_id: null, create_key: randomName() },
      };
      this.rows.push(row);
      this.#events.onChange(row);
      this.#events.onStatus(row);
    }
    this.#startNext();
  }

  /** Cancels an upload whose bytes are not all sent. */
  cancel(row: UploadRow): void {
    this.#become(row, { status: 'canceled', create_key: randomName() });
    this.#controllers.get(row.id)?.abort();
    void this.#giveUp(row);
    this.#startNext();
  }

  retry(row: UploadRow): void {
    this.#become(row, FRESH);
    this.#startNext();
  }

  dismiss(row: UploadRow): void {
    this.rows = this.rows.filter((each) => each !== row);
    this.#events.onChange(row);
  }

  /** These are images of the library; the others are files of the person, which may be sent again. */
  dismissReady(): void {
    for (const row of this.rows.filter(({ status }) => status === 'ready')) this.dismiss(row);
  }

  #startNext(): void {
    const isRunning = ({ status }: UploadRow) => status === 'sending' || status === 'processing';
    let free = AT_ONCE - this.rows.filter(isRunning).length;
    for (const row of this.rows.filter(({ status }) => status === 'queued')) {
      if (free <= 0) break;
      free -= 1;
      this.#become(row, { status: 'sending' });
      void this.#run(row, (signal) => this.#sendOnce(row, signal));
    }
  }

  async #run(row: UploadRow, work: (signal: AbortSignal) => Promise<LibraryFile>): Promise<void> {
    const controller = new AbortController();
    this.#controllers.set(row.id, controller);
    try {
      const result = await work(controller.signal);
      this.#become(row, { status: 'ready', result });
    } catch (error) {
      // The row's status already shows this, and the upload may have been started again.
      if (controller.signal.aborted) return;
      const isUnknown = row.status === 'sending' || isPassing(error) || isSessionEnd(error);
      // The service's verdict is final, so another try is another upload.
      if (!isUnknown) row.upload_id = null;
      this.#become(row, { status: 'failed', code: codeOf(error) });
      if (isUnknown) void this.#giveUp(row);
    }
    this.#startNext();
  }

  /** An earlier try may have arrived without an answer; then its image is the result. */
  async #sendOnce(row: UploadRow, signal: AbortSignal): Promise<LibraryFile> {
    const { upload_id } = row;
    if (upload_id === null || !(await this.#hasArrived(upload_id, signal))) {
      return this.#send(row, signal);
    }
    this.#become(row, { status: 'processing' });
    return this.#follow(upload_id, signal);
  }

  /** Gives up an earlier try that has not arrived. */
  async #hasArrived(upload_id: string, signal: AbortSignal): Promise<boolean> {
    const abort = () => abortUpload(this.#session, upload_id);
    const error = await retryCall(abort, signal).then(() => null, errorOf);
    signal.throwIfAborted();
    if (error === null || error.code === 'upload_not_found') return false;
    if (error.code === 'upload_not_pending') return true;
    throw error;
  }

  async #send(row: UploadRow, signal: AbortSignal): Promise<LibraryFile> {
    const { file } = row;
    if (this.isTooLarge(file)) throw new PickerError('file_too_large');
    if (file.size === 0) throw new PickerError('decode_failed');
    const { create_key } = row;
    const create = () => createUpload(this.#session, file, create_key);
    const { upload_id, proxy } = await retryCall(create);
    if (signal.aborted) await abortUpload(this.#session, upload_id);
    signal.throwIfAborted();
    Object.assign(row, { upload_id, create_key: randomName() });
    if (proxy === undefined) throw new PickerError('internal');
    const onProgress = (share: number) => this.#become(row, { share });
    await putFile(proxy.put_url, { file, signal, onProgress });
    this.#become(row, { status: 'processing' });
    const complete = () => completeUpload(this.#session, upload_id, signal);
    return this.#waitFor(await retryCall(complete, signal), signal);
  }

  /** The service may already have the last bytes; then the upload becomes an image anyway. */
  async #giveUp(row: UploadRow): Promise<void> {
    const { upload_id } = row;
    if (upload_id === null) return;
    const code = await abortUpload(this.#session, upload_id).then(() => null, codeOf);
    const isOver = row.status === 'canceled' || row.status === 'failed';
    const isAsItWas = isOver && row.upload_id === upload_id;
    if (code !== 'upload_not_pending' || !isAsItWas) return;
    this.#become(row, { status: 'processing', code: null });
    void this.#run(row, (signal) => this.#follow(upload_id, signal));
  }

  async #follow(upload_id: string, signal: AbortSignal): Promise<LibraryFile> {
    return this.#waitFor(await this.#find(upload_id, signal), signal);
  }

  #find(upload_id: string, signal: AbortSignal): Promise<LibraryUpload> {
    return retryCall(() => getUpload(this.#session, upload_id, signal), signal);
  }

  async #waitFor(begun: LibraryUpload, signal: AbortSignal): Promise<LibraryFile> {
    let upload = begun;
    for (let wait = POLL_MS_FIRST; ; wait = Math.min(wait * 1.5, POLL_MS_MAX)) {
      const { status, file, error_code, upload_id } = upload;
      // Deleted or blocked meanwhile, for good.
      if (status === 'ready' && file === null) throw new PickerError('file_not_found');
      if (status === 'ready' && file !== null) return file;
      if (status === 'expired') throw new PickerError('upload_expired');
      if (status === 'failed') throw new PickerError(error_code ?? status);
      await pause(wait, signal);
      upload = await this.#find(upload_id, signal);
    }
  }

  #become(row: UploadRow, change: Partial<UploadRow>): void {
    const { status } = row;
    Object.assign(row, change);
    this.#events.onChange(row);
    if (row.status !== status) this.#events.onStatus(row);
  }
}

function codeOf(error: unknown): string {
  return errorOf(error).code;
}

function errorOf(error: unknown): PickerError {
  return error instanceof PickerError ? error : new PickerError('network_error');
}

const FRESH = { status: 'queued', share: 0, code: null, result: null } as const;
