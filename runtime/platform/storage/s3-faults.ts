/** Translates an error of the object storage into one line that tells the operator what to do. */
import { isConnectionCode } from '../../core/outage.ts';
import { StorageUnavailable } from './bucket.ts';

const CREDENTIALS =
  'check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they are allowed to do';
const ENDPOINT = 'check TINTYPE_S3_ENDPOINT and whether the storage runs';
const REGION = 'set TINTYPE_S3_REGION to the region of the bucket';
const SKEWED = 'RequestTimeTooSkewed';
const UNTRUSTED =
  'shows a certificate that is not trusted: name its authority (NODE_EXTRA_CA_CERTS)';

/** By the storage's error code, or the code of the failed connection. */
const adviceByCode: Record<string, string> = {
  NoSuchBucket: 'does not exist: create it, or name another one',
  InvalidAccessKeyId: `does not know the access key: ${CREDENTIALS}`,
  SignatureDoesNotMatch: `refuses the secret key: ${CREDENTIALS}`,
  AccessDenied: `refuses access: ${CREDENTIALS}`,
  ExpiredToken: 'refuses an expired token: renew the credentials',
  CredentialsProviderError: `cannot be used without credentials: ${CREDENTIALS}`,
  // All other header values are ours.
  ERR_INVALID_CHAR: `cannot be used with credentials that a header cannot carry, for example because of a line break at the end: ${CREDENTIALS}`,
  [SKEWED]: 'says that the clock of this machine is wrong: set it (NTP)',
  PermanentRedirect: `is in another region: ${REGION}`,
  AuthorizationHeaderMalformed: `is in another region: ${REGION}`,
  SlowDown: 'asks to slow down',
  ServiceUnavailable: 'is unavailable at the moment',
  InternalError: 'has an internal error',
  QuotaExceeded: 'is full',
  ECONNREFUSED: `cannot be reached, nothing listens there: ${ENDPOINT}`,
  ENOTFOUND: `cannot be reached, its host name is unknown: ${ENDPOINT}`,
  EAI_AGAIN: `cannot be reached, its host name cannot be looked up now: ${ENDPOINT}`,
  EHOSTUNREACH: `cannot be reached: ${ENDPOINT}`,
  ECONNRESET: `broke the connection: ${ENDPOINT}`,
  EPIPE: `broke the connection: ${ENDPOINT}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'shows a certificate that has expired: renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: `shows the certificate of another host: ${ENDPOINT}`,
  TimeoutError: `did not answer in time: ${ENDPOINT}`,
  AbortError: `did not answer in time: ${ENDPOINT}`,
};

/** The failure as StorageUnavailable; an error that is not the storage's is returned unchanged. */
export function s3Fault(bucket: string, error: unknown): unknown {
  const names = isSkewed(error) ? [SKEWED] : namesOf(error);
  const status = statusOf(error);
  const advice = names
    .map((name) => (Object.hasOwn(adviceByCode, name) ? adviceByCode[name] : undefined))
    .find((known) => known !== undefined);
  const known = advice ?? (status === undefined ? byCode(names) : byStatus(status));
  if (known === undefined) return error;
  return new StorageUnavailable(`The bucket ${bucket} ${known}.`, error);
}

/**
 * The storage's error code; undefined when the error is not from the storage, or its answer names
 * no code.
 */
export function s3Code(error: unknown): string | undefined {
  if (statusOf(error) === undefined) return undefined;
  const { Code } = error as { Code?: unknown };
  return typeof Code === 'string' ? Code : undefined;
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } })?.$metadata?.httpStatusCode;
}

/** The answer to a HEAD names no code, but the client compares its Date with our clock. */
function isSkewed(error: unknown): boolean {
  const metadata = (error as { $metadata?: { clockSkewCorrected?: boolean } })?.$metadata;
  return statusOf(error) === 403 && metadata?.clockSkewCorrected === true;
}

function namesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { name, code, cause } = error as Error & { code?: unknown };
  return [name, ...(typeof code === 'string' ? [code] : []), ...namesOf(cause)];
}

function byCode(names: readonly string[]): string | undefined {
  const code = names.find(isConnectionCode);
  return code && `cannot be reached (${code}): ${ENDPOINT}`;
}

/**
 * Missing objects and buckets were recognized before by their codes. A 404 or a redirect that gets
 * here comes from something in front of the storage.
 */
function byStatus(status: number): string | undefined {
  if (status === 401 || status === 403) return `refuses access: ${CREDENTIALS}`;
  if (status < 400 || status === 404) return `answers with status ${status}: ${ENDPOINT}`;
  return status >= 500 || status === 429 ? `answers with status ${status}` : undefined;
}
