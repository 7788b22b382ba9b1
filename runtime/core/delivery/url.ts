// Delivery URLs, parsed strictly from the raw request target. Spec: Delivery host, URL shapes; Output rules 8. The
// alphabet needs no percent-encoding, so every image has one spelling: anything that a cache, proxy or client could
// write in two ways is refused here, before routing.
import { FILE_SLUG_PATTERN } from '../limits.ts';

/** What a path addresses. The chain is still text: it is parsed later. */
export type DeliveryTarget =
  | { readonly kind: 'derived'; readonly chain_text: string; readonly file_slug: string }
  | { readonly kind: 'originals' | 'raw'; readonly file_slug: string };

/** The query of a signed URL. `exp` is in Unix seconds. */
export type DeliverySignature = {
  readonly exp: number;
  readonly kid: string;
  readonly sig: string;
};

/** A well-formed delivery URL. `path` is what the signature covers: everything before the query. */
export type DeliveryUrl = {
  readonly path: string;
  readonly target: DeliveryTarget;
  readonly signature: DeliverySignature | null;
};

/**
 * Parses a raw request target (`/path?query`). Undefined when the path is malformed or the query is
 * not exactly exp, kid and sig: the first refusal, 404 not_found.
 */
export function parseDeliveryUrl(rawTarget: string): DeliveryUrl | undefined {
  const cut = rawTarget.indexOf('?');
  const path = cut < 0 ? rawTarget : rawTarget.slice(0, cut);
  const target = parsePath(path);
  const signature = cut < 0 ? null : parseQuery(rawTarget.slice(cut + 1));
  if (target === undefined || signature === undefined) return undefined;
  return { path, target, signature };
}

/** The path of a target; `parseDeliveryUrl` turns it back into the target. */
export function printDeliveryPath(target: DeliveryTarget): string {
  return `/${PREFIXES[target.kind] ?? chainOf(target)}/f/${target.file_slug}`;
}

/** The whole URL, signed or not; the scheme's default port is left out. */
export function printDeliveryUrl(url: {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port?: number | null;
  readonly path: string;
  readonly signature?: DeliverySignature | null;
}): string {
  const isUsualPort = url.port == null || url.port === USUAL_PORTS[url.scheme];
  const authority = isUsualPort ? url.host : `${url.host}:${url.port}`;
  return `${url.scheme}://${authority}${url.path}${printQuery(url.signature ?? null)}`;
}

const USUAL_PORTS = { http: 80, https: 443 } as const;

const PREFIXES = { derived: undefined, originals: 'originals', raw: 'download/raw' } as const;

// One segment of a chain: no upper case, no escapes, no empty or dot segment.
const SEGMENT = /^[a-z0-9][a-z0-9_.,:-]*$/;

function chainOf(target: DeliveryTarget): string {
  return target.kind === 'derived' ? target.chain_text : '';
}

// /<prefix or chain>/f/<slug>: the relevant f/ is the last segment but one.
function parsePath(path: string): DeliveryTarget | undefined {
  const [empty, ...segments] = path.split('/');
  const file_slug = segments.pop();
  const marker = segments.pop();
  if (empty !== '' || marker !== 'f' || file_slug === undefined) return undefined;
  if (!FILE_SLUG_PATTERN.test(file_slug) || segments.length === 0) return undefined;
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;
  return targetOf(segments.join('/'), file_slug);
}

function targetOf(prefix: string, file_slug: string): DeliveryTarget {
  if (prefix === PREFIXES.originals) return { kind: 'originals', file_slug };
  if (prefix === PREFIXES.raw) return { kind: 'raw', file_slug };
  return { kind: 'derived', chain_text: prefix, file_slug };
}

// Only in the order that printQuery writes, so that a cache in front keeps each image once. The
// values of a signature that is merely wrong still parse; it is refused as invalid_signature.
const QUERY =
  /^exp=(?<exp>0|[1-9][0-9]{0,14})&kid=(?<kid>[A-Za-z0-9_-]{1,128})&sig=(?<sig>[A-Za-z0-9_-]{1,512})$/;

function parseQuery(query: string): DeliverySignature | undefined {
  const { exp, kid, sig } = QUERY.exec(query)?.groups ?? {};
  if (exp === undefined || kid === undefined || sig === undefined) return undefined;
  return { exp: Number(exp), kid, sig };
}

function printQuery(signature: DeliverySignature | null): string {
  if (signature === null) return '';
  return `?exp=${signature.exp}&kid=${signature.kid}&sig=${signature.sig}`;
}
