/** Sends a file's bytes to a signed URL with exactly the headers that came with it, telling how far it is. */
import { createReadStream } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Advice } from '../platform/advice.ts';

export async function putFile(options: {
  url: string;
  headers: Record<string, string>;
  file: string;
  onSent(bytes: number): void;
}): Promise<void> {
  const url = new URL(options.url);
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'PUT',
    headers: options.headers,
  });
  const answered = new Promise<number>((resolve, reject) => {
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
  });
  try {
    const [status] = await Promise.all([
      answered,
      pipeline(createReadStream(options.file), counting(options.onSent), request),
    ]);
    if (status < 200 || status > 299) throw new Advice(`storage refused the bytes (${status})`);
  } catch (cause) {
    throw cause instanceof Advice
      ? cause
      : new Advice('the connection to storage broke: try again', { cause });
  }
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
