// Caching and response headers of a delivery host. Spec: Delivery host, Caching and response headers. A response
// depends on what is served, never on who asks, so there is no Vary.
import { createHash } from 'node:crypto';
import type { StoredType } from '../image/formats.ts';
import { PUBLIC_IMAGE_MAX_AGE_SECONDS, PUBLIC_IMAGE_SHARED_MAX_AGE_SECONDS } from '../limits.ts';
import { contentDisposition } from './content-disposition.ts';

/** Header names are in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** What is served. `seconds_left` of a signed URL: whole seconds until exp, at least 0. */
export type ServedImage = {
  readonly content_type: StoredType;
  readonly revision: number;
  readonly project_id: string;
  readonly file_id: string;
} & (
  | {
      readonly kind: 'derived' | 'originals';
      readonly etag: string;
      readonly access: 'public' | { readonly seconds_left: number };
      /** How long any cache may keep the image; undefined: determined by `access` alone. */
      readonly kept_seconds_max?: number | undefined;
    }
  | {
      readonly kind: 'raw';
      readonly file_slug: string;
      readonly original_filename: string | null;
    }
);

/** The headers of a 200 (or 206), without content-length and x-request-id. */
export function imageHeaders(image: ServedImage): Headers {
  return {
    ...notModifiedHeaders(image),
    'content-type': image.content_type,
    'accept-ranges': 'bytes',
    ...contentHeaders(image),
  };
}

/** The headers of a 304: those of the 200 without the headers that describe its body. */
export function notModifiedHeaders(image: ServedImage): Headers {
  return {
    ...baseHeaders(),
    'cache-control': cacheControl(image),
    'x-service-revision': String(image.revision),
    ...(image.kind === 'raw' ? {} : { etag: image.etag, ...purgeTags(image) }),
  };
}

/**
 * `retry_after_seconds` is for a 503; `help`: the Link to the page about the code, if there is one.
 */
export type RefusalFacts = {
  readonly retry_after_seconds?: number | undefined;
  readonly help?: string | undefined;
};

/** The headers of a refusal, which is never cached. */
export function refusalHeaders({ retry_after_seconds, help }: RefusalFacts = {}): Headers {
  return {
    ...baseHeaders(),
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'access-control-expose-headers': `${EXPOSED}, link`,
    ...(retry_after_seconds === undefined ? {} : { 'retry-after': String(retry_after_seconds) }),
    ...(help === undefined ? {} : { link: help }),
  };
}

/** The headers of the answer to OPTIONS (204): any origin may GET and HEAD. */
export function preflightHeaders(): Headers {
  return {
    ...baseHeaders(),
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
    allow: 'GET, HEAD, OPTIONS',
  };
}

/**
 * The strong entity tag of a representation. `object_key` is the key of the file's bytes, unique to
 * a revision even if a restored database counts revisions again. `representation` is a printed plan
 * or `originals`; the watermark's revision is part of the plan.
 */
export function printEtag(input: {
  readonly file_id: string;
  readonly object_key: string;
  readonly representation: string;
  readonly encoder_epoch: number;
}): string {
  const { file_id, object_key, representation, encoder_epoch } = input;
  const text = JSON.stringify([file_id, object_key, representation, encoder_epoch]);
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 32)}"`;
}

/** Whether If-None-Match contains this tag (compared weakly) or `*`; the answer is then 304. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => tag.replace(/^W\//, '') === etag);
}

/** The tags by which the CDN purges: all images of a project, or of one file. */
export function purgeTags(of: { readonly project_id: string; readonly file_id: string }): Headers {
  return {
    'cache-tag': `${of.project_id},${of.file_id}`,
    'surrogate-key': `${of.project_id} ${of.file_id}`,
  };
}

// The headers that a page may read.
const EXPOSED =
  'accept-ranges, content-disposition, content-length, content-range, etag, retry-after, x-request-id, x-service-revision';

// Set on every response, so that a page of any origin can show, fetch and measure images.
function baseHeaders(): Headers {
  return {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': EXPOSED,
    'cross-origin-resource-policy': 'cross-origin',
    // A signed URL is a credential: nothing that is opened from an image may learn it.
    'referrer-policy': 'no-referrer',
    'timing-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  };
}

function cacheControl(image: ServedImage): string {
  if (image.kind === 'raw') return 'private, no-store';
  const { access, kept_seconds_max = Number.POSITIVE_INFINITY } = image;
  const atMost = (seconds: number) => Math.max(0, Math.floor(Math.min(seconds, kept_seconds_max)));
  if (access === 'public') {
    const shared = atMost(PUBLIC_IMAGE_SHARED_MAX_AGE_SECONDS);
    return `public, max-age=${atMost(PUBLIC_IMAGE_MAX_AGE_SECONDS)}, s-maxage=${shared}`;
  }
  return `public, max-age=0, must-revalidate, s-maxage=${atMost(access.seconds_left)}`;
}

function contentHeaders(image: ServedImage): Headers {
  if (image.kind === 'raw') {
    return {
      'content-disposition': contentDisposition(image),
      'content-security-policy': "default-src 'none'; sandbox",
    };
  }
  return image.content_type === 'image/svg+xml'
    ? { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" }
    : {};
}
