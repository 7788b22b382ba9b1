/**
 * The protocol between the browser client and the upload handler: JSON by POST to one address, with refusals in the
 * service's envelope. Spec: Upload helper codes. This file imports nothing.
 */

/** The file's facts as the browser knows them. */
export type FileFacts = {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
};

export type PrepareRequest = {
  readonly action: 'prepare';
  /** Equal for all tries of one prepare: after a lost answer, the next try gets that session. */
  readonly idempotency_key?: string | undefined;
  /** Optional if the router has only one route. */
  readonly route?: string | undefined;
  readonly file: FileFacts;
  /** Validated by the route's input schema. */
  readonly input?: unknown;
  /** For a large file; the session's own part size takes precedence. */
  readonly part_size?: number | undefined;
};

export type HelperPart = { readonly part_number: number; readonly url: string };

/** The destination of a file sent in one piece. */
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

/** The published file, as the hook and the page receive it. */
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

/** `processing` (202): call again. */
export type CompleteAnswer =
  | { readonly status: 'processing'; readonly upload_id: string }
  | ReadyAnswer;
export type ReadyAnswer = {
  readonly status: 'ready';
  readonly upload_id: string;
  readonly file: UploadedFile;
  /** The return value of the route's hook. */
  readonly result: unknown;
};

export type PartsRequest = { readonly action: 'parts'; readonly token: string };
export type PartsAnswer = { readonly parts: readonly HelperPart[] };
export type AbortRequest = { readonly action: 'abort'; readonly token: string };
export type AbortAnswer = { readonly status: 'aborted' };

/**
 * The limits of each route, answered to GET: for the `accept` of a file input and the number of
 * files to offer.
 */
export type RoutesAnswer = {
  readonly routes: Readonly<
    Record<string, { readonly accept: Readonly<Record<string, RouteLimits>> }>
  >;
};
export type RouteLimits = { readonly max_bytes: number | null; readonly max_count: number | null };
