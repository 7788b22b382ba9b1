/** A client that sends objects, and notices by itself where the storage is silent: also each time that it tries again. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { noticingSilence } from './silent-body.ts';

type Sending = { body?: unknown };

export function noticeSilence(writer: S3Client, silenceMs: number): S3Client {
  // The last step before the wire: behind whatever tries again, which needs the bytes as they were.
  const place = { step: 'deserialize', priority: 'low', name: 'noticeSilence' } as const;
  writer.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as Sending;
      const body = streamOf(request.body);
      if (body === undefined) return next(args);
      return next({ ...args, request: { ...request, body: noticingSilence(body, silenceMs) } });
    },
    place,
  );
  return writer;
}

function streamOf(body: unknown): Readable | undefined {
  if (Buffer.isBuffer(body)) return Readable.from(piecesOf(body), { objectMode: false });
  return body instanceof Readable ? body : undefined;
}

const PIECE_BYTES = 65_536;

/** A connection with TLS takes what is written at once as one: nobody sees how far a large object came in it. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
