/** Sends a file, or a part of it, to a signed URL with exactly its signed headers, and reports progress. */
import { createReadStream } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { insist } from './insist.ts';
import { Refused } from './refused.ts';

export type Put = {
  url: string;
  headers: Record<string, string>;
  file: string;
  /** Inclusive at both ends; undefined: the whole file. */
  range?: { start: number; end: number };
  /** How long the storage may neither accept a byte nor respond; by default two minutes. */
  idle_ms_max?: number;
  onSent(bytes: number): void;
};

/** The storage has responded, and did not accept the bytes. */
export class StorageRefusal extends Refused {
  override readonly name = 'StorageRefusal';

  constructor(status: number) {
    super('storage_unavailable', `storage refused the bytes (${status}): upload the file again`);
  }
}

const IDLE_MS_MAX = 120_000;

/** Returns the ETag of the storage's response. Retries: the same bytes change nothing. */
export async function putFile(put: Put): Promise<string> {
  try {
    return await insist(() => putOnce(put));
  } catch (cause) {
    if (cause instanceof Refused) throw cause;
    const advice = 'the connection to storage broke: upload the file again';
    throw new Refused('network_error', advice, { cause });
  }
}

async function putOnce(put: Put): Promise<string> {
  const { headers, file, range, onSent, idle_ms_max = IDLE_MS_MAX } = put;
  const url = new URL(put.url);
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'PUT',
    headers,
  });
  const answered = new Promise<{ status: number; etag: string }>((resolve, reject) => {
    request.once('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, etag: response.headers.etag ?? '' });
    });
    request.on('error', reject);
  });
  request.setTimeout(idle_ms_max, () => request.destroy(new Error('the storage says nothing')));
  const sent = pipeline(createReadStream(file, range), counting(onSent), request);
  // A storage that refuses may respond and hang up before it has all bytes: its response says more
  // than the broken connection.
  const { status, etag } = await Promise.race([answered, sent.then(() => answered)]);
  // The response may arrive before the end of the file is read, which ends the request early: that
  // is no failure.
  sent.catch(() => undefined);
  if (status >= 200 && status <= 299) return etag;
  request.destroy();
  throw new StorageRefusal(status);
}

function counting(onSent: (bytes: number) => void): Transform {
  let sent = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      onSent(sent);
      done(null, chunk);
    },
  });
}
