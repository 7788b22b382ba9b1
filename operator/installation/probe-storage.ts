/** Whether both buckets are writable, and whether browsers may upload to one of them. Spec: Upload session (POST). */
import { databaseMessage } from '../../runtime/db/failures.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { parseConfig } from '../../runtime/platform/config.ts';
import { type Bucket, StorageUnavailable } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import { openS3 } from '../../runtime/platform/storage/s3-client.ts';
import type { Verdict } from '../image-service/observed.ts';
import type { PodEnvironment } from '../image-service/pod-environment.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';

const CALL_MS_MAX = 5_000;

export async function probeStorage(spec: ImageServiceSpec, env: PodEnvironment): Promise<Verdict> {
  const untried = findReasonNotToProbe(spec, env);
  if (untried !== undefined) return { reason: 'NotChecked', message: untried };
  try {
    const { ingest, content } = openBuckets(env);
    await ingest.check();
    await content.check();
    const fault = await findCorsFault(ingest).catch(() => undefined);
    if (fault === undefined) {
      return { reason: 'Usable', message: 'Both buckets can be written and read.' };
    }
    const message = `The bucket for uploads accepts none from browsers (${fault}): \`tintype doctor --fix-cors\` writes the rule.`;
    return { reason: 'CorsMissing', message };
  } catch (error) {
    return { reason: 'StorageUnusable', message: describe(error, spec) };
  }
}

function findReasonNotToProbe(
  { storageSecretRef, caConfigMapRef }: ImageServiceSpec,
  env: PodEnvironment,
): string | undefined {
  if (storageSecretRef === undefined) {
    return 'The buckets are not tested: only the pods have credentials, through their service account.';
  }
  const { protocol } = URL.parse(env['TINTYPE_S3_ENDPOINT'] ?? '') ?? {};
  const isTrusted = caConfigMapRef === undefined || protocol === 'http:';
  return isTrusted
    ? undefined
    : 'The buckets are not tested: `spec.caConfigMapRef` is only for pods.';
}

function openBuckets(env: PodEnvironment): { ingest: Bucket; content: Bucket } {
  const config = parseConfig<'s3Endpoint'>({ ...env }, ['s3Endpoint']);
  const access = openS3({
    endpoint: config.s3Endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    region: config.s3Region,
    addressing: config.s3ForcePathStyle === 'true' ? 'path' : 'host',
    clock: systemClock,
    credentials: {
      accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    ...{ deadlineMs: CALL_MS_MAX, attempts: 1 },
  });
  return {
    ingest: createS3Bucket(access, config.ingestBucket),
    content: createS3Bucket(access, config.contentBucket),
  };
}

const ORIGIN = 'https://tintype-operator.example';

/**
 * Sends a browser's preflight request; a failure to reach an address that only browsers can reach
 * is no fault.
 */
async function findCorsFault(bucket: Bucket): Promise<string | undefined> {
  const terms = {
    ...{ content_type: 'application/octet-stream', size_bytes: 1, expires_in_seconds: 60 },
  };
  const { url } = await bucket.presignPut('operator/cors', terms);
  const asked = await fetch(url, {
    method: 'OPTIONS',
    // Browsers do not follow redirects of a preflight.
    redirect: 'manual',
    signal: AbortSignal.timeout(CALL_MS_MAX),
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type',
    },
  });
  await asked.body?.cancel();
  const allowed = asked.headers.get('access-control-allow-origin') ?? '';
  return ['*', ORIGIN].includes(allowed) ? undefined : `preflight ${asked.status}`;
}

/** Names the place of the faulty setting: a field of the resource, or a key of its Secret. */
function describe(error: unknown, { storage, storageSecretRef }: ImageServiceSpec): string {
  const why = error instanceof StorageUnavailable ? error.advice : databaseMessage(error);
  const { endpoint, region } = storage ?? {};
  const advice = Object.entries({ endpoint, region })
    .filter(([, value]) => value !== undefined)
    .reduce((text, [name]) => {
      return text.replace(`TINTYPE_S3_${name.toUpperCase()}`, `\`spec.storage.${name}\``);
    }, why);
  const secret = `Secret '${storageSecretRef?.name}' (\`spec.storageSecretRef\`)`;
  return `The object storage cannot be used with the keys in ${secret}: ${advice}`;
}
