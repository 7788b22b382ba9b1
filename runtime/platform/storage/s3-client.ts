/**
 * The connection to an object storage that speaks S3. Every call has a deadline, or ends after a silence. Checksums are
 * sent only where S3 requires one, because not every store supports them, and a presigned URL would sign the checksum
 * of an empty body.
 */
import { S3Client } from '@aws-sdk/client-s3';
import { Sha256 } from '../aws-hash.ts';
import type { Clock } from '../clock.ts';
import { detectStalledUploads } from './s3-stall-detection.ts';

export type S3Options = {
  /** Default: AWS itself. */
  endpoint?: string | undefined;
  /** The address that browsers use, if it differs. */
  publicEndpoint?: string | undefined;
  region: string;
  addressing: 'path' | 'host';
  clock: Clock;
  /** Default: the usual AWS variables, profiles and roles. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /**
   * The time for one call with all its tries, not counting the time to send its bytes; and the
   * number of tries.
   */
  deadlineMs?: number;
  attempts?: number;
  /**
   * How long a connection may deliver nothing while bytes are expected, or accept nothing while
   * bytes wait.
   */
  silenceMs?: number;
};

/**
 * The clients, shared by both buckets. `client` makes the other calls; `reader` opens objects
 * passed on at their reader's pace; `writer` writes, also at a sender's pace; `signer` only signs,
 * for the public address.
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
 * Unlimited, because an object passed on occupies its connection for as long as its reader likes,
 * and an incoming object as long as its sender. With the client's default of fifty, that many slow
 * peers would hold all connections, and everybody else would get the error that the storage is
 * away.
 */
const CONNECTIONS = { maxSockets: Number.POSITIVE_INFINITY };
const CONNECTING = {
  connectionTimeout: 3000,
  httpAgent: CONNECTIONS,
  httpsAgent: CONNECTIONS,
};
const DEADLINE_MS = 30_000;
/**
 * 1 Mbit/s: a server that serves images from a storage has a better line to it, and the largest
 * possible master (400 MB) passes within an hour. With a deadline that large objects cannot meet,
 * their uploads would fail forever.
 */
const SENT_BYTES_PER_SECOND_MIN = 125_000;
const ATTEMPTS = 3;

export function openS3(options: S3Options): S3Access {
  const { endpoint, publicEndpoint = endpoint, clock, deadlineMs = DEADLINE_MS } = options;
  const { silenceMs = SILENCE_MS_MAX } = options;
  const connect = (timeouts: object, address = endpoint) =>
    new S3Client({
      ...settings(options),
      requestHandler: { ...CONNECTING, ...timeouts },
      ...(address === undefined ? {} : { endpoint: address }),
    });
  const client = connect({ socketTimeout: silenceMs });
  // The timeout ends when the answer begins: after that a silence may be the reader's.
  const reader = connect({ requestTimeout: silenceMs, throwOnRequestTimeout: true });
  // None of the client's own timeouts can tell a silent storage from a silent sender.
  const writer = detectStalledUploads(connect({}), silenceMs);
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
    // Every failure reaches the caller; the client's own console lines would repeat it.
    logger: SILENT,
    ...(credentials === undefined ? {} : { credentials }),
  };
}

/**
 * For calls with a small answer: bounds the whole call, including retries and the time to send
 * `sentBytes`.
 */
export function requestTimeout(
  { deadlineMs }: S3Access,
  sentBytes = 0,
): { abortSignal: AbortSignal } {
  const sendingMs = Math.ceil((sentBytes / SENT_BYTES_PER_SECOND_MIN) * 1000);
  return { abortSignal: AbortSignal.timeout(deadlineMs + sendingMs) };
}
