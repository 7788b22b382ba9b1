/**
 * Signed delivery URLs, minted by the service and cached for half their lifetime, because a project may mint at most 60
 * a minute. Concurrent calls for the same image share one mint. Spec: Signing keys and signed URLs.
 */
import type { ApiClient } from './api-client.ts';
import { type Transform, transformChain } from './delivery-urls.ts';

export type SignedUrls = {
  derived(fileSlug: string, transform: Transform): Promise<string>;
  original(fileSlug: string): Promise<string>;
  /** The sanitized image with its metadata, as an attachment. */
  raw(fileSlug: string): Promise<string>;
};

export type SignedUrlsOptions = {
  readonly api: ApiClient;
  /** The project's slug. */
  readonly project: string;
  /** 60 to 3600; default 3600. A URL is reused for the first half of it. */
  readonly lifetimeSeconds?: number;
  /** How many URLs are cached; default 10,000. */
  readonly kept?: number;
};

export function signedUrls(options: SignedUrlsOptions): SignedUrls {
  const kept = new Map<string, Kept>();
  const find = (request: UrlRequest) => findOrMint(options, kept, request);
  return {
    derived: (file_slug, transform) =>
      find({ file_slug, kind: 'derived', transform_chain: transformChain(transform) }),
    original: (file_slug) => find({ file_slug, kind: 'originals' }),
    raw: (file_slug) => find({ file_slug, kind: 'raw' }),
  };
}

type UrlRequest = {
  readonly file_slug: string;
  readonly kind: 'derived' | 'originals' | 'raw';
  readonly transform_chain?: string;
};
type Kept = { readonly url: Promise<string>; readonly from: number; readonly until: number };

const LIFETIME_SECONDS = 3600;
const KEPT_MAX = 10_000;

function findOrMint(
  options: SignedUrlsOptions,
  kept: Map<string, Kept>,
  request: UrlRequest,
): Promise<string> {
  const key = `${request.kind} ${request.transform_chain ?? ''} ${request.file_slug}`;
  const known = kept.get(key);
  const now = Date.now();
  // How far off the host's clock is does not matter. If it was set back, the age of older URLs is not known.
  if (known !== undefined && known.from <= now && now < known.until) return known.url;
  const { lifetimeSeconds = LIFETIME_SECONDS } = options;
  const url = mint(options, request, lifetimeSeconds);
  const entry = { url, from: now, until: now + lifetimeSeconds * 500 };
  kept.delete(key);
  kept.set(key, entry);
  forgetOldest(kept, options.kept ?? KEPT_MAX);
  // A failure is not cached: the next call tries again.
  url.catch(() => kept.get(key) === entry && kept.delete(key));
  return url;
}

async function mint(
  { api, project }: SignedUrlsOptions,
  request: UrlRequest,
  expires_in_seconds: number,
): Promise<string> {
  const answer = await api.call('POST /v1/projects/{slug}/signed-url', {
    path: { slug: project },
    body: { ...request, expires_in_seconds },
  });
  return answer.url;
}

function forgetOldest(kept: Map<string, Kept>, max: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(key);
  }
}
