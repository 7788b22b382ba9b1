/**
 * What the browser client and the upload handler say to each other: JSON by POST to one address, which answers refusals
 * in the envelope of the service. Spec: Upload helper codes. This file imports nothing.
 */

/** The file as the browser knows it. */
export type FileFacts = {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
};

export type PrepareRequest = {
  readonly action: 'prepare';
  /** The same for each try of one prepare: where an answer was lost, the next try gets the session it told of. */
  readonly idempotency_key?: string | undefined;
  /** May be left out where the router has one route. */
  readonly route?: string | undefined;
  readonly file: FileFacts;
  /** For the route's input schema. */
  readonly input?: unknown;
  /** Of a large file; the session's own part size wins. */
  readonly part_size?: number | undefined;
};

export type HelperPart = { readonly part_number: number; readonly url: string };

/** Where all of a file goes at once. */
export type HelperPut = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};
export type HelperMultipart = {
  readonly part_size: number;
  readonly parts: readonly HelperPart[];
};

export type PrepareAnswer = {
  readonly token: string;
  readonly upload_id: string;
  readonly expires_at: string;
} & (
  | { readonly put: HelperPut; readonly multipart?: undefined }
  | { readonly multipart: HelperMultipart; readonly put?: undefined }
);

export type SentPart = { readonly part_number: number; readonly etag: string };

export type CompleteRequest = {
  readonly action: 'complete';
  readonly token: string;
  readonly parts?: readonly SentPart[];
};

/** The published file, as the hook and the page are told. */
export type UploadedFile = {
  readonly file_slug: string;
  readonly file_id: string;
  readonly revision: number;
  readonly url: string;
  readonly width: number;
  readonly height: number;
  readonly content_type: string;
  readonly size_bytes: number;
};

/** `processing` (202): ask again. */
export type CompleteAnswer =
  | { readonly status: 'processing'; readonly upload_id: string }
  | ReadyAnswer;
export type ReadyAnswer = {
  readonly status: 'ready';
  readonly upload_id: string;
  readonly file: UploadedFile;
  /** What the route's hook returned. */
  readonly result: unknown;
};

export type PartsRequest = { readonly action: 'parts'; readonly token: string };
export type PartsAnswer = { readonly parts: readonly HelperPart[] };
export type AbortRequest = { readonly action: 'abort'; readonly token: string };
export type AbortAnswer = { readonly status: 'aborted' };

/** What each route takes, by GET: for the `accept` of a file input, and for how many to offer. */
export type RoutesAnswer = {
  readonly routes: Readonly<
    Record<string, { readonly accept: Readonly<Record<string, RouteLimits>> }>
  >;
};
export type RouteLimits = { readonly max_bytes: number | null; readonly max_count: number | null };
