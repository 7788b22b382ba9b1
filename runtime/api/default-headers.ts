/**
 * What an answer does not say otherwise: nothing is kept, guessed at, run, framed, nor told to other sites, nor asked
 * for without TLS where there is TLS. Spec: Conventions.
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

/** Bases, forms and frames do not follow `default-src`. */
const STILL = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A year, and this host alone. */
const STRICT_TRANSPORT = { 'strict-transport-security': 'max-age=31536000' };
