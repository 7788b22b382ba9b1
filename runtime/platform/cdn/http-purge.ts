/**
 * Caches purged over HTTP: BAN by tags, for Varnish as configured in docs/cdn.md; or PURGE of everything of a host, for
 * nginx, which has no tags. Each address must accept every purge. Spec: Caching and response headers.
 */
import type { CdnHealth, CdnPurge } from './cdn.ts';
import type { CdnApi, CdnCall, CdnRequest } from './cdn-api.ts';
import { callsByTags, hostsOf } from './purge-targets.ts';
import { type AdviceByStatus, refusalOf } from './refusal.ts';
import { sendRequest } from './send-request.ts';

export type HttpPurgeOptions = {
  /** Each URL is a separate cache. */
  urls: readonly string[];
  method: 'BAN' | 'PURGE';
  /** Sent as a bearer token. */
  token: string | undefined;
  rootDomain: string;
};

/** Keeps a tag header below the 8 KiB that caches accept. */
const TAGS_PER_BAN = 100;
const RATE = { burst: 200, per_minute: 6000 };

const advice: AdviceByStatus = {
  401: 'set TINTYPE_CDN_TOKEN to the token that the cache expects',
  403: 'allow purges from this process’s address in the cache, and check TINTYPE_CDN_TOKEN',
  404: 'the cache passed the purge on, or knows only whole keys: configure it as docs/cdn.md shows',
  405: 'the cache does not know the method: configure it as docs/cdn.md shows, or set TINTYPE_CDN_METHOD',
  412: 'the cache knows only whole keys: nginx needs a purge module that accepts PURGE /*',
  501: 'the cache does not know the method: configure it as docs/cdn.md shows, or set TINTYPE_CDN_METHOD',
};

export function createHttpPurgeApi(options: HttpPurgeOptions): CdnApi {
  const judge: CdnApi['judge'] = (answer, targets) => {
    const refusal = refusalOf(answer, { name: 'the cache', advice });
    return refusal && { refusal, targets };
  };
  return {
    batch_max: TAGS_PER_BAN,
    rate: RATE,
    callsFor: (purges) => options.urls.flatMap((url) => callsAt(url, options, purges)),
    send: (request, signal) => sendRequest(request, { signal }),
    judge,
    check: (signal) => check(options, signal),
  };
}

function callsAt<Purge extends CdnPurge>(
  url: string,
  options: HttpPurgeOptions,
  purges: readonly Purge[],
): CdnCall<Purge>[] {
  if (options.method === 'PURGE') {
    return hostsOf(purges, options.rootDomain).map((target) => ({
      lane: url,
      request: purgeHost(url, options, target.name),
      targets: [target],
    }));
  }
  return callsByTags(purges, {
    lane: url,
    tags_max: TAGS_PER_BAN,
    request: (tags) => banTags(url, options, tags),
  });
}

function banTags(url: string, options: HttpPurgeOptions, tags: readonly string[]): CdnRequest {
  return {
    method: 'BAN',
    url,
    headers: { 'surrogate-key': tags.join(' '), ...authorization(options) },
  };
}

function purgeHost(url: string, options: HttpPurgeOptions, host: string): CdnRequest {
  const everything = new URL('/*', url).href;
  return { method: 'PURGE', url: everything, headers: { host, ...authorization(options) } };
}

function authorization({ token }: HttpPurgeOptions): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * A tag that no image carries and a host that no project has: the cache accepts the purge like any
 * other, but drops nothing.
 */
const NO_TAG = 'tintype_doctor';
const NO_HOST = 'tintype-doctor.invalid';

async function check(options: HttpPurgeOptions, signal: AbortSignal): Promise<CdnHealth> {
  const { method, urls } = options;
  for (const url of urls) {
    const request =
      method === 'BAN' ? banTags(url, options, [NO_TAG]) : purgeHost(url, options, NO_HOST);
    const name = new URL(url).host;
    const refusal = refusalOf(await sendRequest(request, { signal }), { name, advice });
    if (refusal !== undefined) throw refusal;
  }
  const caches = urls.length === 1 ? 'the cache accepts' : `${urls.length} caches accept`;
  return { says: `${caches} ${method} requests` };
}
