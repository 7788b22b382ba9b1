/** Sends a large file in parts, three at a time; skips parts that arrived before. Spec: Upload helper constants. */
import { HELPER_PARTS_CONCURRENT_MAX } from '../../core/limits.ts';
import type { HelperPart, SentPart } from '../protocol.ts';
import { partUrl } from './helper-calls.ts';
import { retrying } from './retrying.ts';
import { sendBytes } from './send-bytes.ts';
import { clientError, UploadError } from './upload-error.ts';

export type PartSending = {
  readonly file: Blob;
  readonly part_size: number;
  /** ETags by part number; updated as parts arrive. */
  readonly sent: Map<number, string>;
  /** Signs new URLs for all parts, because part URLs live for a quarter of an hour. */
  readonly sign: (signal: AbortSignal) => Promise<readonly HelperPart[]>;
  readonly onSent: (parts: readonly SentPart[]) => Promise<void>;
  readonly onProgress: (sentBytes: number) => void;
};

/** Returns the parts that complete the upload; `urls` may be outdated or empty. */
export async function sendParts(
  sending: PartSending,
  urls: readonly HelperPart[],
  signal: AbortSignal,
): Promise<readonly SentPart[]> {
  const addresses = new Addresses(sending, urls);
  const progress = new Progress(sending);
  const count = Math.ceil(sending.file.size / sending.part_size);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => !sending.sent.has(number),
  );
  const own = new AbortController();
  const stop = () => own.abort(signal.reason);
  signal.addEventListener('abort', stop);
  const context = { sending, addresses, progress, signal: own.signal };
  const work = async () => {
    for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
      const etag = await sendPart(context, number);
      sending.sent.set(number, etag);
      await sending.onSent(listSent(sending));
    }
  };
  try {
    await Promise.all(Array.from({ length: HELPER_PARTS_CONCURRENT_MAX }, work));
  } finally {
    // The first failure aborts the other parts.
    own.abort(clientError('aborted'));
    signal.removeEventListener('abort', stop);
  }
  return listSent(sending);
}

type Context = {
  sending: PartSending;
  addresses: Addresses;
  progress: Progress;
  signal: AbortSignal;
};

async function sendPart(
  { sending, addresses, progress, signal }: Context,
  number: number,
): Promise<string> {
  const { file, part_size } = sending;
  const bytes = file.slice((number - 1) * part_size, number * part_size);
  const send = async () =>
    sendBytes({
      url: await addresses.find(number, signal),
      headers: {},
      bytes,
      signal,
      onProgress: (sentBytes) => progress.note(number, sentBytes),
    });
  const etag = await retrying(signal, () =>
    send().catch((error: unknown) => {
      // Most likely the URL has expired: get new ones and try once more.
      if (!(error instanceof UploadError) || error.status !== 403) throw error;
      addresses.forget();
      return send();
    }),
  );
  if (etag === null) throw clientError('etag_missing');
  progress.note(number, bytes.size);
  return etag;
}

/** The URLs of the parts, requested when there are none. */
class Addresses {
  readonly #sign: PartSending['sign'];
  #urls: Promise<readonly HelperPart[]> | undefined;

  constructor({ sign }: PartSending, urls: readonly HelperPart[]) {
    this.#sign = sign;
    this.#urls = urls.length === 0 ? undefined : Promise.resolve(urls);
  }

  async find(number: number, signal: AbortSignal): Promise<string> {
    this.#urls ??= this.#sign(signal);
    const urls = await this.#urls.catch((error: unknown) => {
      this.#urls = undefined;
      throw error;
    });
    return partUrl(urls, number);
  }

  forget(): void {
    this.#urls = undefined;
  }
}

/** The bytes sent over all parts, several of which are under way. */
class Progress {
  readonly #sending: PartSending;
  readonly #bytes = new Map<number, number>();
  #sum = 0;

  constructor(sending: PartSending) {
    this.#sending = sending;
    for (const number of sending.sent.keys()) this.#set(number, sizeOf(sending, number));
  }

  note(number: number, sentBytes: number): void {
    this.#set(number, sentBytes);
    this.#sending.onProgress(Math.min(this.#sum, this.#sending.file.size));
  }

  #set(number: number, bytes: number): void {
    this.#sum += bytes - (this.#bytes.get(number) ?? 0);
    this.#bytes.set(number, bytes);
  }
}

function sizeOf({ file, part_size }: PartSending, number: number): number {
  return Math.min(part_size, file.size - (number - 1) * part_size);
}

function listSent({ sent }: PartSending): SentPart[] {
  return [...sent]
    .map(([part_number, etag]) => ({ part_number, etag }))
    .sort((left, right) => left.part_number - right.part_number);
}
