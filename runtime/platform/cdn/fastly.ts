/**
 * Fastly: batch purge by surrogate keys, 256 per call. Never a soft purge, which would keep serving stale images: a
 * blocked file must disappear. Spec: Caching and response headers.
 */
import { z } from 'zod';
import { parseAnyJson } from '../../core/json.ts';
import { type CdnHealth, CdnRefusal } from './cdn.ts';
import type { CdnAnswer, CdnApi, CdnRequest, CdnVerdict } from './cdn-api.ts';
import { callsByTags } from './purge-targets.ts';
import type { RateLimit } from './rate-limiter.ts';
import { type AdviceByStatus, excerpt, refusalOf } from './refusal.ts';
import { sendRequest } from './send-request.ts';

export type FastlyOptions = {
  service: string;
  token: string;
  /** Default: Fastly's own API. */
  url?: string | undefined;
  rate?: RateLimit | undefined;
};

const API = 'https://api.fastly.com';
const KEYS_PER_CALL = 256;
/** The limit is 100,000 purges an hour per account. */
const RATE = { burst: 200, per_minute: 1600 };

const TOKEN = 'make a token with the scope purge_select for this service and set TINTYPE_CDN_TOKEN';
const advice: AdviceByStatus = {
  401: TOKEN,
  403: TOKEN,
  404: 'set TINTYPE_CDN_ZONE to the service id',
  429: 'the account’s limit of purges is reached; lower TINTYPE_CDN_CALLS_PER_MINUTE',
};

export function createFastlyApi(options: FastlyOptions): CdnApi {
  return {
    batch_max: KEYS_PER_CALL,
    rate: options.rate ?? RATE,
    callsFor: (purges) =>
      callsByTags(purges, {
        lane: 'api',
        tags_max: KEYS_PER_CALL,
        request: (tags) => purgeKeys(options, tags),
      }),
    send: (request, signal) => sendRequest(request, { signal }),
    judge,
    check: (signal) => check(options, signal),
  };
}

function purgeKeys(options: FastlyOptions, keys: readonly string[]): CdnRequest {
  const path = `/service/${encodeURIComponent(options.service)}/purge`;
  const { url, headers } = get(options, path);
  return {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ surrogate_keys: keys }),
  };
}

function get({ url = API, token }: FastlyOptions, path: string): CdnRequest {
  const headers = { 'fastly-key': token, accept: 'application/json' };
  return { method: 'GET', url: `${url.replace(/\/$/, '')}${path}`, headers };
}

const purged = z.record(z.string(), z.string());
const failure = z.object({ msg: z.string(), detail: z.string().nullish() });

/** The answer contains an id for each key that was accepted. */
function judge(answer: CdnAnswer, targets: readonly string[]): CdnVerdict | undefined {
  const refusal = refusalIn(answer);
  if (refusal !== undefined) return { refusal, targets };
  const taken = read(purged, answer) ?? {};
  const left = targets.filter((key) => !Object.hasOwn(taken, key));
  if (left.length === 0) return undefined;
  const says = `Fastly did not accept ${left.length} of ${targets.length} keys (${excerpt(answer.text)})`;
  const facts = { says, advice: 'they are sent again', concerns: 'call' } as const;
  return { refusal: new CdnRefusal(facts), targets: left };
}

function refusalIn(answer: CdnAnswer): CdnRefusal | undefined {
  const said = read(failure, answer);
  const reason = said && [said.msg, said.detail].filter(Boolean).join(', ');
  return refusalOf(answer, { name: 'Fastly', advice, reason });
}

function read<Shape>(schema: z.ZodType<Shape>, { text }: CdnAnswer): Shape | undefined {
  return schema.safeParse(parseAnyJson(text)).data;
}

const tokenFacts = z.object({
  scope: z.string().catch(''),
  services: z.array(z.string()).catch([]),
});

/** The token's own description lists its scope, and its services if it is limited to some. */
async function check(options: FastlyOptions, signal: AbortSignal): Promise<CdnHealth> {
  const answer = await sendRequest(get(options, '/tokens/self'), { signal });
  const refusal = refusalIn(answer);
  if (refusal !== undefined) throw refusal;
  const { scope, services } = read(tokenFacts, answer) ?? { scope: '', services: [] };
  const mayPurge = scope.split(/\s+/).some((each) => ['global', 'purge_select'].includes(each));
  if (!mayPurge) {
    const says = `the token has the scope ${excerpt(scope) || 'nothing'}`;
    throw new CdnRefusal({ says, advice: TOKEN, concerns: 'all' });
  }
  if (services.length > 0 && !services.includes(options.service)) {
    const says = `the token is not for the service ${options.service}`;
    throw new CdnRefusal({ says, advice: TOKEN, concerns: 'all' });
  }
  return { says: `the token may purge the service ${options.service}` };
}
