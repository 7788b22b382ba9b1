/** Cloudflare: purge by Cache-Tag, available in every plan, 100 tags per call. Spec: Caching and response headers. */
import { z } from 'zod';
import { parseAnyJson } from '../../core/json.ts';
import { type CdnHealth, CdnRefusal } from './cdn.ts';
import type { CdnAnswer, CdnApi, CdnRequest } from './cdn-api.ts';
import { callsByTags } from './purge-targets.ts';
import type { RateLimit } from './rate-limiter.ts';
import { type AdviceByStatus, excerpt, refusalOf } from './refusal.ts';
import { sendRequest } from './send-request.ts';

export type CloudflareOptions = {
  zone: string;
  token: string;
  /** Default: Cloudflare's own API. */
  url?: string | undefined;
  rate?: RateLimit | undefined;
};

const API = 'https://api.cloudflare.com/client/v4';
const TAGS_PER_CALL = 100;
/** The limit of the smallest plan: 5 requests a minute, up to 25 at once. */
const RATE = { burst: 25, per_minute: 5 };

const TOKEN =
  'make an API token with the permission Zone, Cache Purge for this zone and set TINTYPE_CDN_TOKEN';
const advice: AdviceByStatus = {
  400: 'check the zone (TINTYPE_CDN_ZONE) and the permissions of the token',
  401: TOKEN,
  403: TOKEN,
  404: 'set TINTYPE_CDN_ZONE to the zone id of the overview page, not to its name',
  429: 'the account’s limit of purges is reached; set TINTYPE_CDN_CALLS_PER_MINUTE to what the plan allows',
};

export function createCloudflareApi(options: CloudflareOptions): CdnApi {
  return {
    batch_max: TAGS_PER_CALL,
    rate: options.rate ?? RATE,
    callsFor: (purges) =>
      callsByTags(purges, {
        lane: 'api',
        tags_max: TAGS_PER_CALL,
        request: (tags) => purgeTags(options, tags),
      }),
    send: (request, signal) => sendRequest(request, { signal }),
    judge: (answer, targets) => {
      const refusal = refusalIn(answer);
      return refusal && { refusal, targets };
    },
    check: (signal) => check(options, signal),
  };
}

function purgeTags(options: CloudflareOptions, tags: readonly string[]): CdnRequest {
  const path = `/zones/${encodeURIComponent(options.zone)}/purge_cache`;
  const { url, headers } = get(options, path);
  return {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ tags }),
  };
}

function get({ url = API, token }: CloudflareOptions, path: string): CdnRequest {
  return {
    method: 'GET',
    url: `${url.replace(/\/$/, '')}${path}`,
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  };
}

const envelope = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).catch([]),
  result: z.object({ name: z.string().optional(), status: z.string().optional() }).nullish(),
});

function read({ text }: CdnAnswer): z.infer<typeof envelope> | undefined {
  return envelope.safeParse(parseAnyJson(text)).data;
}

/** Also reads the body, because a 200 can be a refusal. */
function refusalIn(answer: CdnAnswer): CdnRefusal | undefined {
  const body = read(answer);
  const reason = body?.errors.map(({ code, message }) => `${code} ${message}`).join(', ');
  const refusal = refusalOf(answer, { name: 'Cloudflare', advice, reason: reason || undefined });
  if (refusal !== undefined || body?.success === true) return refusal;
  return new CdnRefusal({
    says: `Cloudflare did not say that it purged (${reason || excerpt(answer.text) || 'an empty answer'})`,
    advice: 'check TINTYPE_CDN_URL and TINTYPE_CDN_ZONE',
    concerns: 'call',
  });
}

/**
 * A token with purge permission only cannot read its zone; whether the token itself is valid can
 * still be checked.
 */
async function check(options: CloudflareOptions, signal: AbortSignal): Promise<CdnHealth> {
  const { zone } = options;
  const path = `/zones/${encodeURIComponent(zone)}`;
  const answer = await sendRequest(get(options, path), { signal });
  if (answer.status === 200) {
    const name = read(answer)?.result?.name ?? zone;
    return { says: `the token reads the zone ${name}` };
  }
  if (answer.status !== 401 && answer.status !== 403) throw refusalIn(answer);
  const verified = await sendRequest(get(options, '/user/tokens/verify'), { signal });
  const refusal = refusalIn(verified);
  if (refusal !== undefined) throw refusal;
  return {
    says: `the token is ${read(verified)?.result?.status ?? 'valid'}`,
    advice: `only the first purge shows whether it may purge the zone ${zone}; with the permission Zone, Zone, Read, the zone can be checked here`,
  };
}
