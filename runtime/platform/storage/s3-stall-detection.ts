/** Makes a client that sends objects detect a silent storage, also on each retry. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { withUploadStallTimeout } from './stall-timeout.ts';

type Sending = { body?: unknown };

export function detectStalledUploads(writer: S3Client, silenceMs: number): S3Client {
  // The last step before the wire, behind the retries, which need the original bytes.
  const place = { step: 'deserialize', priority: 'low', name: 'detectStalledUploads' } as const;
  writer.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as Sending;
      const body = streamOf(request.body);
      if (body === undefined) return next(args);
      return next({
        ...args,
        request: { ...request, body: withUploadStallTimeout(body, silenceMs) },
      });
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

/**
 * TLS accepts everything written at once as one piece, which would hide the progress of a large
 * object.
 */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
