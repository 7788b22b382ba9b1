/**
 * The connection to an object storage that speaks S3. Every call has a deadline, or ends by silence; checksums are sent only where S3
 * requires one, because not every store knows them, and a presigned URL would sign that of an empty body.
 */
import { S3Client } from '@aws-sdk/client-s3';
import { Sha256 } from '../aws-hash.ts';
import type { Clock } from '../clock.ts';
import { noticeSilence } from './s3-silence.ts';

export type S3Options = {
  /** Unset: AWS itself. */
  endpoint?: string | undefined;
  /** What browsers see, where that is another address. */
  publicEndpoint?: string | undefined;
  region: string;
  addressing: 'path' | 'host';
  clock: Clock;
  /** Unset: the usual AWS variables, profiles and roles. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** How long one call may take, beside the way of the bytes that it sends, and how often it is tried. */
  deadlineMs?: number;
  attempts?: number;
  /** How long a connection may say nothing while bytes are expected, and take none while some wait. */
  silenceMs?: number;
};

/**
 * Of one connection pool for both buckets; two more clients open what is handed on at its reader's pace, and write, also at
 * a sender's pace; one only signs, for the public address.
 */
export type S3Access = {
  client: S3Client;
  reader: S3Client;
  writer: S3Client;
  signer: S3Client;
  clock: Clock;
  deadlineMs: number;
  silenceMs: number;
};
export type S3Place = S3Access & { bucket: string };

const SILENCE_MS_MAX = 15_000;
/**
 * An object that is handed on takes its connection for as long as its reader likes, and one that comes in as its sender:
 * of the client's own fifty, as many slow ones would have all, and everybody else would be told that the storage is away.
 */
const CONNECTIONS = { maxSockets: Number.POSITIVE_INFINITY };
const CONNECTING = {
  connectionTimeout: 3000,
  httpAgent: CONNECTIONS,
  httpsAgent: CONNECTIONS,
};
const DEADLINE_MS = 30_000;
/**
 * 1 Mbit/s: whoever serves pictures out of a storage has a better line to it, and the largest master that there is
 * (400 MB) is through within an hour. A deadline that large bytes cannot keep is an outage that never ends.
 */
const SENT_BYTES_PER_SECOND_MIN = 125_000;
const ATTEMPTS = 3;

export function openS3(options: S3Options): S3Access {
  const { endpoint, publicEndpoint = endpoint, clock, deadlineMs = DEADLINE_MS } = options;
  const { silenceMs = SILENCE_MS_MAX } = options;
  const connect = (patience: object, address = endpoint) =>
    new S3Client({
      ...settings(options),
      requestHandler: { ...CONNECTING, ...patience },
      ...(address === undefined ? {} : { endpoint: address }),
    });
  const client = connect({ socketTimeout: silenceMs });
  // Only until the answer begins: behind that a silence may be its reader's.
  const reader = connect({ requestTimeout: silenceMs, throwOnRequestTimeout: true });
  // No timeout of the client's own can tell a silent storage from a silent sender.
  const writer = noticeSilence(connect({}), silenceMs);
  const signer = publicEndpoint === endpoint ? client : connect({}, publicEndpoint);
  return { client, reader, writer, signer, clock, deadlineMs, silenceMs };
}

const nothing = () => undefined;
const SILENT = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

function settings(options: S3Options) {
  const { region, addressing, credentials } = options;
  const { attempts = ATTEMPTS } = options;
  return {
    region,
    sha256: Sha256,
    forcePathStyle: addressing === 'path',
    maxAttempts: attempts,
    requestChecksumCalculation: 'WHEN_REQUIRED' as const,
    responseChecksumValidation: 'WHEN_REQUIRED' as const,
    // Every failure reaches the caller; the client's own lines on the console would say it twice.
    logger: SILENT,
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/** For a call whose answer is small: all of it, retries and so many bytes to send included, is over by then. */
export function within({ deadlineMs }: S3Access, sentBytes = 0): { abortSignal: AbortSignal } {
  const sendingMs = Math.ceil((sentBytes / SENT_BYTES_PER_SECOND_MIN) * 1000);
  return { abortSignal: AbortSignal.timeout(deadlineMs + sendingMs) };
}
