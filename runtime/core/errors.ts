/**
 * Every code that the service can answer, with its status on each surface. Spec: Errors, Envelope, Codes by status,
 * Processing error codes, Upload helper codes; Verifier failure reasons. The same code may have another status in
 * another table (`invalid_signature` is 401 on the API and 403 on delivery), so a status is looked up by surface.
 */

/** One row: the status, the sentence for a person, and the keys of the envelope's `details`. */
export type ErrorRow = {
  readonly status: number;
  /** Default message; says what to do. */
  readonly message: string;
  /** Keys of `details`, if the code has any. */
  readonly details?: readonly string[];
  /** The answer carries Retry-After. */
  readonly retry_after?: true;
};

/**
 * Our own codes, not in the specification: idempotent POSTs, bounded lists and conditional writes.
 */
export const additionalErrors = {
  idempotency_key_reused: {
    status: 400,
    message:
      'This Idempotency-Key was already used with another request. Send a new key, or repeat the first request exactly.',
  },
  idempotency_in_progress: {
    status: 409,
    message:
      'A request with this Idempotency-Key is still in progress. Repeat it after Retry-After seconds.',
    retry_after: true,
  },
  project_quota_exceeded: {
    status: 409,
    message:
      'The organization has as many projects as its plan allows. Use one of them, or take a larger plan.',
    details: ['max_projects'],
  },
  recipe_quota_exceeded: {
    status: 409,
    message: 'The project has 1,000 recipes. Delete one first.',
  },
  watermark_preset_quota_exceeded: {
    status: 409,
    message: 'The project has 1,000 watermark presets. Delete one first.',
  },
  precondition_failed: {
    status: 412,
    message:
      'The resource has changed since you read it, or does not exist. Read it again and repeat the change, or leave If-Match out.',
  },
} as const satisfies Record<string, ErrorRow>;

/** Spec: Codes by status, the management API's part. Source of `ApiErrorCode`. */
export const apiErrors = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid. Correct the fields listed in details.issues.',
    details: ['issues'],
  },
  invalid_json: {
    status: 400,
    message: 'The body is not valid JSON. Send JSON in UTF-8 with Content-Type application/json.',
  },
  invalid_cursor: {
    status: 400,
    message:
      'The cursor is not valid for this list. Use next_cursor unchanged with the same filters and sort, or start again without a cursor.',
  },
  invalid_parts: {
    status: 400,
    message:
      'The parts list is not complete. List every part once, part_number 1 to N, each with the ETag that storage returned; the upload can still be completed.',
    details: ['part_count', 'missing', 'doubled', 'unknown', 'issues'],
  },
  not_multipart: {
    status: 400,
    message: 'This upload has a single part. Complete it without a parts list.',
  },
  parts_required: {
    status: 400,
    message: 'This upload is multipart. Send parts with the part_number and ETag of every part.',
    details: ['part_count'],
  },
  invalid_part_size: {
    status: 400,
    message:
      'The parts would be smaller than 5 MiB. Ask for fewer parts, or for one part for a small file.',
    details: ['min_bytes', 'max_parts'],
  },
  multipart_complete_failed: {
    status: 400,
    message:
      'Storage refused to join the parts. Upload the parts again, check their ETags and complete again.',
  },
  invalid_library_slug: {
    status: 400,
    message:
      "The library slug is not valid. Use up to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit; 'default' is reserved.",
  },
  invalid_folder: {
    status: 400,
    message:
      "The folder is not a valid path. Use at most 10 levels and 255 characters, separated by slashes, without '.', '..' or control characters.",
  },
  invalid_search: {
    status: 400,
    message: 'The search text is too short. Send at least 2 characters.',
  },
  invalid_bbox: {
    status: 400,
    message: 'The bbox is not valid. Send west,south,east,north in degrees, south not above north.',
  },
  folder_requires_library: {
    status: 400,
    message: 'A folder is looked up inside a library. Send library as well.',
  },
  filter_requires_library: {
    status: 400,
    message: 'This filter or sort works inside a library. Send library as well.',
  },
  not_supported: {
    status: 400,
    message: 'The fields listed in details.fields are not supported yet. Leave them out.',
    details: ['fields'],
  },
  default_library_immutable: {
    status: 400,
    message: 'Only allowed_origins of the default library can be changed. Change that field only.',
  },
  unsupported_content_type: {
    status: 400,
    message:
      'This content type is not accepted. Upload an image of one of the types in details.accepted.',
    details: ['accepted'],
  },
  transform_chain_not_allowed: {
    status: 400,
    message:
      "The transform chain is not in the project's allowed_transform_chains. Use a listed chain or add this one.",
  },
  invalid_subject: {
    status: 400,
    message: 'The subject is not valid. Send 1 to 128 characters.',
  },
  invalid_permissions: {
    status: 400,
    message: 'Permissions may hold browse or browse_own, not both. Choose one of them.',
  },
  refresh_mismatch: {
    status: 400,
    message:
      'A refreshed session must have the library, origin and subject of the old one and may not widen its rights. Mint a new session instead.',
  },
  invalid_origin: {
    status: 400,
    message: 'The origin is not valid. Send an https origin, or http://localhost with a port.',
  },
  providerb_mode_mismatch: {
    status: 400,
    message:
      'The event comes from the other mode of the payment provider. Send test events to a test installation and live events to a live one.',
  },

  unauthorized: {
    status: 401,
    message: 'The credentials are missing or not valid. Send a current API key or access token.',
  },
  invalid_request_signature: {
    status: 401,
    message:
      'X-Request-Signature is missing or wrong. Sign the method, pathname and raw body of this exact request.',
  },
  invalid_signature: {
    status: 401,
    message: 'The signature does not match. Use the URL or the payload exactly as it was issued.',
  },
  signature_expired: {
    status: 401,
    message: 'The signed URL has expired. Ask for a new one.',
  },
  session_expired: {
    status: 401,
    message: 'The library session has expired. Mint a new one.',
  },
  session_revoked: {
    status: 401,
    message: 'The library session was revoked. Mint a new one.',
  },
  minting_key_revoked: {
    status: 401,
    message: 'The API key that minted this session was revoked. Mint a session with a current key.',
  },
  invalid_session: {
    status: 401,
    message: 'The library session token is not valid. Mint a new one.',
  },
  library_session_not_allowed: {
    status: 401,
    message:
      'A library session works on /v1/library paths only. Use an API key or a dashboard session here.',
  },
  invalid_token: {
    status: 401,
    message: 'The upload token is not valid. Prepare the upload again.',
  },

  browser_session_required: {
    status: 403,
    message:
      'This operation is for the dashboard. Sign in and use a session instead of an API key.',
  },
  api_key_required: {
    status: 403,
    message: 'This operation is for servers. Use a project API key instead of a session.',
  },
  forbidden: {
    status: 403,
    message: 'The API key lacks the scope for this operation. Use or create a key that has it.',
  },
  staff_only: {
    status: 403,
    message: 'This operation is for staff only. Sign in as staff, or ask support.',
  },
  staff_only_field: {
    status: 403,
    message:
      'Only staff may set the fields listed in details.fields. Leave them out, or ask support.',
    details: ['fields'],
  },
  project_suspended: {
    status: 403,
    message: 'The project is suspended. Set its status to active first.',
  },
  project_suspended_by_staff: {
    status: 403,
    message: 'The project was suspended by staff. Contact support to have it reactivated.',
  },
  storage_quota_exceeded: {
    status: 403,
    message: 'The project has no storage left for this upload. Delete files or upgrade the plan.',
    details: ['limit_bytes', 'in_use_bytes', 'reserved_bytes', 'size_bytes'],
  },
  raw_download_disabled: {
    status: 403,
    message: 'Raw downloads are off for this project. Set raw_download_enabled to true first.',
  },
  scope_missing: {
    status: 403,
    message:
      'The API key lacks a scope that the requested permissions need. Use a key that also has it, or ask for fewer permissions.',
  },
  origin_not_allowed: {
    status: 403,
    message: "The origin is not registered. Add it to the library's allowed_origins first.",
  },
  permission_denied: {
    status: 403,
    message: 'The library session lacks this permission. Mint a session that has it.',
  },
  invalid_embed_url: {
    status: 403,
    message: 'The embed URL is not valid. Use embed_url exactly as it was returned.',
  },
  embed_url_expired: {
    status: 403,
    message: 'The embed URL has expired. Mint a new library session.',
  },

  not_found: {
    status: 404,
    message: 'Nothing exists here for these credentials. Check the path, the ids and the key.',
  },
  file_not_found: {
    status: 404,
    message: 'The project has no such file. Check the file slug.',
  },
  upload_not_found: {
    status: 404,
    message: 'There is no such upload. Check the upload id.',
  },
  library_not_found: {
    status: 404,
    message: 'The project has no such library. Check the slug, or create the library first.',
  },
  content_missing: {
    status: 404,
    message: 'The scanned content is no longer stored. Look at the current revision of the file.',
  },

  project_exists: {
    status: 409,
    message: 'This project slug is taken. Choose another one.',
  },
  api_key_quota_exceeded: {
    status: 409,
    message: 'The project has 100 active API keys. Revoke one first.',
  },
  api_key_revoked: {
    status: 409,
    message: 'This API key is revoked and cannot be rotated. Create a new key.',
  },
  recipe_name_taken: {
    status: 409,
    message: 'Another recipe of the project has this name. Choose another one.',
  },
  watermark_preset_name_taken: {
    status: 409,
    message: 'Another watermark preset of the project has this name. Choose another one.',
  },
  default_watermark_in_use: {
    status: 409,
    message:
      "This preset is the project's default watermark. Clear default_watermark_preset_id first.",
  },
  watermark_file_not_ready: {
    status: 409,
    message: 'A watermark needs a ready file of the same project. Upload it, or wait until ready.',
  },
  file_not_ready: {
    status: 409,
    message:
      'The file is blocked or not ready, so no URL is signed for it. Wait until it is ready, or have it unblocked.',
  },
  signing_key_missing: {
    status: 409,
    message: 'The project has no active signing key. Rotate its signing keys once.',
  },
  ingest_object_missing: {
    status: 409,
    message:
      'No bytes have arrived for this upload. Send them to its put_url, then complete again.',
    details: ['expires_at'],
  },
  ingest_size_mismatch: {
    status: 409,
    message:
      'The stored object does not have the declared size_bytes. Send the whole file again, then complete.',
    details: ['size_bytes', 'stored_bytes'],
  },
  upload_not_pending: {
    status: 409,
    message: 'This upload no longer waits for bytes. Read its status, or create a new upload.',
    details: ['status'],
  },
  upload_not_resumable: {
    status: 409,
    message: 'This upload no longer takes parts. Read its status, or create a new upload.',
    details: ['status'],
  },
  already_subscribed: {
    status: 409,
    message: 'The organization already has a subscription. Change the one it has.',
  },
  use_billing_portal: {
    status: 409,
    message: 'This subscription is managed in the billing portal. Cancel it there.',
  },
  no_subscription: {
    status: 409,
    message: 'The organization has no subscription to cancel. Check that it is the right one.',
  },
  already_cancelling: {
    status: 409,
    message: 'The subscription is already being canceled. Wait until its period ends.',
  },
  custom_domain_taken: {
    status: 409,
    message: 'Another project has this custom domain. Remove it there first.',
  },
  check_not_flagged: {
    status: 409,
    message: 'Only a flagged check can be reviewed. Block or unblock the file itself instead.',
  },
  incident_automatic: {
    status: 409,
    message: 'This incident is automatic and closes by itself. Open a manual one to add a notice.',
  },
  media_library_disabled: {
    status: 409,
    message:
      'Library and folder writes are off in this installation. Leave library and folder out, or have them enabled.',
  },
  library_slug_taken: {
    status: 409,
    message: 'Another library of the project has this slug. Choose another one.',
  },
  library_not_empty: {
    status: 409,
    message: 'The library still holds files or pending uploads. Move or delete them first.',
  },
  library_sessions_disabled: {
    status: 409,
    message: 'Library sessions are off in this installation. Have them enabled first.',
  },
  subject_key_unavailable: {
    status: 409,
    message: 'The key that protects subjects is not configured. Ask support to have it set.',
  },
  sessions_recently_revoked: {
    status: 409,
    message: 'Sessions were revoked a moment ago. Mint again after Retry-After seconds.',
    retry_after: true,
  },

  upload_expired: {
    status: 410,
    message: 'The upload expired at details.expires_at. Create a new upload.',
    details: ['expires_at'],
  },

  length_required: {
    status: 411,
    message: 'Send Content-Length with the exact number of bytes.',
    details: ['size_bytes'],
  },

  payload_too_large: {
    status: 413,
    message: 'The body is too large. Send at most details.max_bytes bytes.',
    details: ['max_bytes'],
  },
  file_too_large: {
    status: 413,
    message: 'The file is too large. Upload at most details.max_bytes bytes.',
    details: ['max_bytes'],
  },
  proxy_upload_too_large: {
    status: 413,
    message:
      'The file is too large for mode proxy. Use mode direct, or at most details.max_bytes bytes.',
    details: ['max_bytes', 'mode'],
  },
  preview_too_large: {
    status: 413,
    message:
      'The source is larger than details.max_bytes, too large for a preview. Open the original instead.',
    details: ['max_bytes'],
  },

  content_type_mismatch: {
    status: 415,
    message: 'Send the Content-Type that was declared when the upload was created.',
    details: ['expected', 'got'],
  },

  sha256_mismatch: {
    status: 422,
    message:
      'The stored bytes do not have the declared sha256. Send the file again, then complete.',
    details: ['sha256', 'stored_sha256'],
  },
  filter_unavailable: {
    status: 422,
    message:
      'The project has more than details.max_files files, and its library indexes do not exist yet. Leave the filter out, or have the indexes built.',
    details: ['max_files'],
  },
  preview_unavailable: {
    status: 422,
    message:
      'No preview can be made of this content; details.reason says why. Open the original instead.',
    details: ['reason'],
  },

  rate_limited: {
    status: 429,
    message: 'Too many requests. Wait Retry-After seconds, then continue more slowly.',
    retry_after: true,
  },
  session_upload_limit: {
    status: 429,
    message: 'This library session has used all its uploads. Mint a new one.',
  },

  internal: {
    status: 500,
    message:
      'Something went wrong on our side. Try again; if the error persists, report the x-request-id.',
  },

  auth_unavailable: {
    status: 503,
    message: 'Sessions cannot be verified at the moment. Try again shortly.',
  },
  storage_unavailable: {
    status: 503,
    message: 'The database or the storage is not reachable at the moment. Try again shortly.',
  },
  query_timeout: {
    status: 503,
    message: 'The database took too long. Try again, with narrower filters if you use any.',
  },
  billing_unavailable: {
    status: 503,
    message: 'Billing is not configured or not reachable. Try again later.',
  },
  providera_request_failed: {
    status: 503,
    message: 'Payment provider A did not answer as expected. Try again later.',
  },
  providerb_request_failed: {
    status: 503,
    message: 'Payment provider B did not answer as expected. Try again later.',
  },
  billing_price_mismatch: {
    status: 503,
    message:
      'The paid price is not the price of the plan. The event was not recorded; correct the plans of the provider: it sends the event again by itself.',
  },
  billing_customer_unmapped: {
    status: 503,
    message:
      'The customer belongs to no organization. The event was not recorded; map the customer: the provider sends it again by itself.',
  },
  billing_plan_unmapped: {
    status: 503,
    message:
      'The product belongs to no plan. The event was not recorded; add it to the plans of the provider, which sends it again by itself.',
  },
  billing_subscription_mismatch: {
    status: 503,
    message:
      "The subscription is not the organization's own. The event was not recorded; correct the mapping: the provider sends it again by itself.",
  },
  billing_grant_not_found: {
    status: 503,
    message:
      'The grant that this event corrects is not known yet. The event was not recorded; wait: the provider sends it again by itself.',
  },
  preview_busy: {
    status: 503,
    message: 'Too many previews are waiting. Try again after Retry-After seconds.',
    details: ['retry_after_seconds'],
    retry_after: true,
  },
  embed_unavailable: {
    status: 503,
    message: 'The picker is not available at the moment. Try again shortly.',
  },

  ...additionalErrors,
} as const satisfies Record<string, ErrorRow>;

export type ApiErrorCode = keyof typeof apiErrors;

/**
 * Spec: Codes by status, those of a delivery host; Delivery refusals in checking order. The last
 * two are ours.
 */
export const deliveryErrors = {
  quota_exceeded: {
    status: 403,
    message: 'The organization has no credits left. Add credits to resume delivery.',
  },
  file_blocked: {
    status: 403,
    message:
      'This file is blocked by moderation. Ask the owner of the project to have it reviewed.',
  },
  invalid_signature: {
    status: 403,
    message: 'The signature does not match this URL. Use the signed URL exactly as it was minted.',
  },
  signature_expired: {
    status: 403,
    message: 'The signed URL has expired. Mint a new one.',
  },
  unknown_kid: {
    status: 403,
    message: 'The key that signed this URL is unknown or retired. Mint a new URL.',
  },
  signature_required: {
    status: 403,
    message: 'This project is protected. Use a signed URL.',
  },
  transform_chain_not_allowed: {
    status: 403,
    message:
      'This transform chain is not allowed for unsigned URLs. Use an allowed chain, or a signed URL of a protected project.',
  },
  project_suspended: {
    status: 403,
    message: 'The project is suspended. Ask its owner to set its status to active.',
  },
  not_found: {
    status: 404,
    message:
      'No image is served at this URL. Check the host, the transform chain and the file slug.',
  },
  raw_unavailable: {
    status: 415,
    message: 'This format cannot carry metadata. Use the originals URL instead.',
  },
  busy: {
    status: 503,
    message:
      'Rendering is saturated, or a service that it needs is unavailable. Try again after Retry-After seconds.',
    retry_after: true,
  },
  render_timeout: {
    status: 504,
    message: 'The render took too long. Ask for a smaller size or a faster format.',
  },
  invalid_request: {
    status: 400,
    message: 'The request is not valid HTTP. Send one Host header and a path, or check the proxy.',
  },
  range_not_satisfiable: {
    status: 416,
    message:
      'The range begins beyond the end of the image. Content-Range has its size; ask for bytes within it.',
  },
  internal: {
    status: 500,
    message:
      'The image could not be rendered. Try again; if the error persists, report the x-request-id.',
  },
} as const satisfies Record<string, ErrorRow>;

export type DeliveryErrorCode = keyof typeof deliveryErrors;

/**
 * Codes of `deliveryErrors` that are not in the specification: protocol faults, ranges and failed
 * renders.
 */
export const additionalDeliveryCodes = [
  'invalid_request',
  'range_not_satisfiable',
  'internal',
] as const;

/** Spec: Processing error codes, the `error_code` of an upload that failed or expired. */
export const processingErrors = {
  unsupported_media_type: {
    message:
      'This is not a supported image, or not of the declared type. Not supported are HEIC, JPEG with 12 bits or arithmetic coding, rare encodings of TIFF and BMP, compressed SVG, and SVG with embedded bitmaps or a DOCTYPE: convert it first.',
  },
  animated_not_supported: {
    message: 'The image has more than one frame or page. Upload a single frame.',
  },
  image_too_large: {
    message:
      'The image has too many pixels for its format, or is too costly to process: make it smaller. An SVG may also be nested too deep, or have too many elements, layers or filters: simplify it.',
  },
  processing_timeout: {
    message: 'Processing this image took too long three times. Make it smaller; simplify an SVG.',
  },
  decode_failed: {
    message:
      'The image is corrupt or truncated, or an SVG lacks its size or its namespace (add width and height or a viewBox, and xmlns). Export it again and upload the result.',
  },
  ingest_size_mismatch: {
    message: 'The stored object is not size_bytes long. Create a new upload with the exact size.',
  },
  sha256_mismatch: {
    message: 'The bytes differ from the declared sha256. Create a new upload and send them again.',
  },
  file_too_large: {
    message: 'The file is above the upload size limit. Make it smaller.',
  },
  ingest_object_missing: {
    message: 'The bytes never arrived. Create a new upload and send them.',
  },
  processing_abandoned: {
    message:
      'Processing failed repeatedly. Create a new upload; if the error persists, report the upload id.',
  },
  session_expired: {
    message: 'No bytes arrived before expires_at. Create a new upload.',
  },
} as const satisfies Record<string, { readonly message: string }>;

export type ProcessingErrorCode = keyof typeof processingErrors;

/**
 * A row of the helper's table: one or several statuses; null when the status comes from elsewhere.
 */
export type HelperErrorRow = {
  readonly statuses: readonly number[] | null;
  readonly message: string;
  /** Keys of `details`, if the code has any. */
  readonly details?: readonly string[];
  /** The caller may choose any other status. */
  readonly or_custom?: true;
};

/**
 * Messages about files are for the person who chose the file, because the developer's page shows
 * them; what the developer needs in addition is in `details`. Spec: Upload helper codes, answered
 * by the customer's own endpoint.
 */
export const helperErrors = {
  unknown_route: {
    statuses: [400],
    message: 'The router has no such route, or several and none was named. Name one of its routes.',
  },
  unsupported_content_type: {
    statuses: [400],
    message: 'Files of this type are not accepted here. Choose a file of another type.',
    details: ['accepted'],
  },
  file_too_large: {
    statuses: [413],
    message: 'The file is too large to be accepted here. Choose a smaller one.',
    details: ['max_bytes'],
  },
  invalid_input: {
    statuses: [400],
    message: "The input does not match the route's schema. Correct it.",
  },
  forbidden: {
    statuses: [401, 403],
    or_custom: true,
    message: "The route's middleware refused this upload. Ask its owner who may upload here.",
  },
  middleware_failed: {
    statuses: [500],
    message: "The route's middleware failed. See the server's log.",
  },
  invalid_token: {
    statuses: [401],
    message: 'The upload token is forged or malformed. Prepare the upload again.',
  },
  upload_expired: {
    statuses: [410],
    message: 'The upload has expired. Prepare it again.',
  },
  processing_failed: {
    statuses: [422],
    message:
      "Processing failed or the session expired; the response has the session's own error_code. Follow what that code says.",
  },
  on_upload_complete_failed: {
    statuses: [500],
    message: 'The file is ready but the completion hook failed. Complete again to repeat the hook.',
  },
  api_unreachable: {
    statuses: [502],
    message: 'The image service is not reachable. Try again shortly.',
  },
} as const satisfies Record<string, HelperErrorRow>;

/** A code of the upload helper; the last two rows represent codes that come from elsewhere. */
export type HelperErrorCode = keyof typeof helperErrors;

/** Spec: Upload helper codes, rows whose code the helper only passes on. */
export const helperRelayedCodes = ['forbidden', 'processing_failed', 'api_unreachable'] as const;

/** Spec: Verifier failure reasons. */
export const verifierReasons = {
  missing_header: 'The request has no signature header. Read X-Service-Signature.',
  malformed_header: 'The header is not t=<unix>,v1=<hex>. Pass it on exactly as received.',
  timestamp_out_of_tolerance: 'The time of the signature is too far from now. Check the clock.',
  signature_mismatch:
    'No v1 matches: wrong secret or changed body. Verify the raw body as received.',
  invalid_body:
    'The signature matches but the body is not { id, event, created_at, data } JSON. Check the sender.',
} as const satisfies Record<string, string>;

/** Why the webhook verifier refused a delivery. */
export type VerifierReason = keyof typeof verifierReasons;

/**
 * A session's failure is answered with this status, whatever the status of its code. Spec: Codes by
 * status, 422.
 */
export const SESSION_FAILURE_STATUS = 422;

/** The `details` of a code: exactly the keys that its row lists. */
export type ErrorDetails<Code> = Code extends ApiErrorCode
  ? (typeof apiErrors)[Code] extends { readonly details: readonly (infer Key extends string)[] }
    ? { readonly [Name in Key]: unknown }
    : undefined
  : undefined;

/** What a `ServiceError` may carry besides its code. */
export type ServiceErrorOptions<Code> = {
  message?: string | undefined;
  details?: ErrorDetails<Code>;
  /** Logged, never answered. */
  cause?: unknown;
  retryAfterSeconds?: number | undefined;
};

/** A refusal with a specified code; the only class that routes and actions throw. */
export class ServiceError<
  Code extends ApiErrorCode | SessionFailure = ApiErrorCode | SessionFailure,
> extends Error {
  override readonly name = 'ServiceError';
  readonly code: ApiErrorCode | ProcessingErrorCode;
  /** The status on the management API. */
  readonly status: number;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Code, options: ServiceErrorOptions<Code> = {}) {
    const row = rowOf(code);
    super(options.message ?? row.message, { cause: options.cause });
    this.code = typeof code === 'string' ? code : code.error_code;
    this.status = row.status;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A failed session; its `error_code` becomes the answer's code. */
export type SessionFailure = { error_code: ProcessingErrorCode };

function rowOf(code: ApiErrorCode | SessionFailure): ErrorRow {
  if (typeof code === 'string') return apiErrors[code];
  return { status: SESSION_FAILURE_STATUS, ...processingErrors[code.error_code] };
}

/** The body of every error answer. Spec: Envelope. */
export type ErrorEnvelope = { error: { code: string; message: string; details?: unknown } };

/** Builds the envelope; `details` is omitted when there are none. */
export function errorEnvelope(error: {
  code: string;
  message: string;
  details?: unknown;
}): ErrorEnvelope {
  const { code, message, details } = error;
  return { error: details === undefined ? { code, message } : { code, message, details } };
}
