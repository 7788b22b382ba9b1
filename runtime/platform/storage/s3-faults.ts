/** What an error of the object storage means to the person who runs this: one line that says what to do. */
import { StorageUnavailable } from './bucket.ts';

const CREDENTIALS =
  'check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they are allowed to do';
const ENDPOINT = 'check TINTYPE_S3_ENDPOINT and whether the storage runs';
const REGION = 'set TINTYPE_S3_REGION to the region of the bucket';

/** By the storage's error code, or the code of the failing socket. */
const advices: Record<string, string> = {
  NoSuchBucket: 'is not there: create it, or name another one',
  InvalidAccessKeyId: `does not know the access key: ${CREDENTIALS}`,
  SignatureDoesNotMatch: `refuses the secret key: ${CREDENTIALS}`,
  AccessDenied: `refuses access: ${CREDENTIALS}`,
  ExpiredToken: 'refuses an expired token: renew the credentials',
  CredentialsProviderError: `cannot be asked without credentials: ${CREDENTIALS}`,
  RequestTimeTooSkewed: 'says that the clock of this machine is wrong: set it (NTP)',
  PermanentRedirect: `is in another region: ${REGION}`,
  AuthorizationHeaderMalformed: `is in another region: ${REGION}`,
  SlowDown: 'asks to slow down',
  ServiceUnavailable: 'is not available now',
  InternalError: 'failed inside',
  QuotaExceeded: 'is full',
  ECONNREFUSED: `cannot be reached, nothing listens there: ${ENDPOINT}`,
  ENOTFOUND: `cannot be reached, its name is not known: ${ENDPOINT}`,
  EAI_AGAIN: `cannot be reached, its name cannot be looked up now: ${ENDPOINT}`,
  EHOSTUNREACH: `cannot be reached: ${ENDPOINT}`,
  ECONNRESET: `broke the connection: ${ENDPOINT}`,
  EPIPE: `broke the connection: ${ENDPOINT}`,
  TimeoutError: `did not answer in time: ${ENDPOINT}`,
  AbortError: `did not answer in time: ${ENDPOINT}`,
};

/** The failure as StorageUnavailable; an error that is not the storage's is returned as it is. */
export function s3Fault(bucket: string, error: unknown): unknown {
  const advice = namesOf(error)
    .map((name) => (Object.hasOwn(advices, name) ? advices[name] : undefined))
    .find((known) => known !== undefined);
  const known = advice ?? byStatus(statusOf(error));
  if (known === undefined) return error;
  return new StorageUnavailable(`The bucket ${bucket} ${known}.`, error);
}

/** The storage's error code, or undefined for what no storage said. */
export function s3Code(error: unknown): string | undefined {
  return statusOf(error) === undefined ? undefined : namesOf(error)[0];
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } })?.$metadata?.httpStatusCode;
}

function namesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { name, code, cause } = error as Error & { code?: unknown };
  return [name, ...(typeof code === 'string' ? [code] : []), ...namesOf(cause)];
}

function byStatus(status: number | undefined): string | undefined {
  if (status === undefined) return undefined;
  if (status === 401 || status === 403) return `refuses access: ${CREDENTIALS}`;
  return status >= 500 || status === 429 ? `answers with status ${status}` : undefined;
}
