/**
 * CloudFront: invalidation by cache tags, which the distribution has to be told to keep (CacheTagConfig, header
 * Cache-Tag). Its paths know neither hosts nor what is before a slug. Spec: Caching and response headers.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type AwsIdentity, signAwsRequest } from './aws-signature.ts';
import { type CdnHealth, CdnRefusal } from './cdn.ts';
import type { CdnAnswer, CdnApi, CdnRequest } from './cdn-api.ts';
import type { Pace } from './pace.ts';
import { callsByTags } from './purge-targets.ts';
import { type AdviceByStatus, refusalOf } from './refusal.ts';
import { sendRequest } from './send-request.ts';

export type CloudFrontOptions = {
  distribution: string;
  identity: AwsIdentity;
  clock: Clock;
  /** Unset: CloudFront's own. */
  url?: string | undefined;
  pace?: Pace | undefined;
};

const API = 'https://cloudfront.amazonaws.com';
const VERSION = '2020-05-31';
const NAMESPACE = `http://cloudfront.amazonaws.com/doc/${VERSION}/`;
/** Far below the 3,000 that may be in progress at a time. */
const TAGS_PER_CALL = 100;
const PACE = { burst: 10, per_minute: 30 };
/** How long it takes until something in progress is done. */
const IN_PROGRESS_SECONDS = 30;

const PERMISSIONS =
  'let the AWS credentials of this process do cloudfront:CreateInvalidation on the distribution';
const advice: AdviceByStatus = {
  400: 'look at the distribution (TINTYPE_CDN_ZONE)',
  401: PERMISSIONS,
  403: PERMISSIONS,
  404: 'set TINTYPE_CDN_ZONE to the id of the distribution',
};

export function createCloudFrontApi(options: CloudFrontOptions): CdnApi {
  return {
    batch_max: TAGS_PER_CALL,
    pace: options.pace ?? PACE,
    callsFor: (purges) =>
      callsByTags(purges, {
        lane: 'api',
        tags_max: TAGS_PER_CALL,
        request: (tags) => createInvalidation(options, tags),
      }),
    send: (request, signal) => sendSigned(options, request, signal),
    judge: (answer, targets) => {
      const refusal = refusalIn(answer);
      return refusal && { refusal, targets };
    },
    check: (signal) => check(options, signal),
  };
}

/** The tags are of our own making and need no escaping. */
function createInvalidation(options: CloudFrontOptions, tags: readonly string[]): CdnRequest {
  const items = tags.map((tag) => `<Path>#${tag}</Path>`).join('');
  const paths = `<Paths><Quantity>${tags.length}</Quantity><Items>${items}</Items></Paths>`;
  // A reference that was used before would be answered with the invalidation that it made then.
  const reference = `<CallerReference>${randomUUID()}</CallerReference>`;
  return {
    method: 'POST',
    url: urlOf(options, 'invalidation'),
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><InvalidationBatch xmlns="${NAMESPACE}">${paths}${reference}</InvalidationBatch>`,
  };
}

function urlOf({ url = API, distribution }: CloudFrontOptions, what: string): string {
  const path = `/${VERSION}/distribution/${encodeURIComponent(distribution)}/${what}`;
  return `${url.replace(/\/$/, '')}${path}`;
}

async function sendSigned(
  { identity, clock }: CloudFrontOptions,
  request: CdnRequest,
  signal: AbortSignal,
): Promise<CdnAnswer> {
  const scope = { region: 'us-east-1', service: 'cloudfront' };
  return sendRequest(await signAwsRequest(request, { ...scope, identity, clock, signal }), {
    signal,
  });
}

/** What is too much is a 400 here; it says itself that it may be tried later. */
function refusalIn(answer: CdnAnswer): CdnRefusal | undefined {
  const [code, message] = [elementOf(answer, 'Code'), elementOf(answer, 'Message')];
  const reason = [code, message].filter(Boolean).join(', ') || undefined;
  const refusal = refusalOf(answer, { name: 'CloudFront', advice, reason });
  if (refusal === undefined || !TOO_MUCH.test(code ?? '')) return refusal;
  return new CdnRefusal({
    ...refusal.facts,
    advice: 'it is tried again later; lower TINTYPE_CDN_CALLS_PER_MINUTE where this stays so',
    concerns: 'all',
    retry_after_seconds: refusal.facts.retry_after_seconds ?? IN_PROGRESS_SECONDS,
  });
}

const TOO_MUCH =
  /^(TooManyInvalidationsInProgress|Throttling|ThrottlingException|TooManyRequestsException)$/;

function elementOf({ text }: CdnAnswer, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
}

/** Without the header of the tags in its configuration a distribution takes invalidations and forgets nothing. */
async function check(options: CloudFrontOptions, signal: AbortSignal): Promise<CdnHealth> {
  const request = { method: 'GET', url: urlOf(options, 'config'), headers: {} };
  const answer = await sendSigned(options, request, signal);
  if (answer.status === 403 && elementOf(answer, 'Code') === 'AccessDenied') {
    return {
      says: 'the AWS credentials are taken',
      advice:
        'whether they may invalidate shows with the first purge; with cloudfront:GetDistributionConfig the distribution can be looked at here',
    };
  }
  const refusal = refusalIn(answer);
  if (refusal !== undefined) throw refusal;
  const header = elementOf(answer, 'HeaderName');
  if (answer.text.includes('<CacheTagConfig>') && header?.toLowerCase() === 'cache-tag') {
    return { says: 'the distribution keeps the tags of Cache-Tag' };
  }
  throw new CdnRefusal({
    says: 'the distribution keeps no tags',
    advice: 'set its CacheTagConfig to the header Cache-Tag: without it purges have no effect',
    concerns: 'all',
  });
}
