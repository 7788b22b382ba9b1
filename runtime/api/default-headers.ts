/**
 * Headers of every answer that does not override them: forbid caching, content sniffing, scripts, framing and
 * referrers, and require TLS if the API uses it. Spec: Conventions.
 */
export function defaultHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': STILL,
    'referrer-policy': 'no-referrer',
    ...(baseUrl.startsWith('https:') ? STRICT_TRANSPORT : {}),
  };
}

/** `default-src` does not cover base-uri, form-action and frame-ancestors. */
const STILL = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For a year, without subdomains. */
const STRICT_TRANSPORT = { 'strict-transport-security': 'max-age=31536000' };
