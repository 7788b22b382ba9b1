/**
 * Every number of the specification, and of our decisions where it leaves one open; no other file contains one. Spec:
 * Limits, and the numbers of all other headings. A name is noun, unit, bound; this file imports nothing, and
 * docs/reference/limits.md is generated from its text.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The specification's megapixel. */
const MEGAPIXEL = 1_000_000;

// Identifiers and counts

export const PROJECT_SLUG_LENGTH_MAX = 63;
export const FILE_SLUG_LENGTH_MAX = 128;
export const FILE_SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,127}$/;
export const RESOLUTION_PRESETS_MAX = 32;
export const RESOLUTION_PRESET_NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const RESOLUTION_PRESETS_PER_URL_MAX = 1;
export const ALLOWED_TRANSFORM_CHAINS_MAX = 64;
export const API_KEYS_ACTIVE_MAX = 100;
/** Decided: lists show a project's newest keys (API or signing), including all active ones. */
export const KEYS_LISTED_MAX = 1000;
/** Decided: lists of these are bounded and have no cursor. */
export const RECIPES_MAX = 1000;
export const WATERMARK_PRESETS_MAX = 1000;
export const CUSTOM_DOMAINS_MAX = 32;
export const LIBRARY_ALLOWED_ORIGINS_MAX = 200;
export const LIBRARY_NAME_LENGTH_MIN = 1;
export const LIBRARY_NAME_LENGTH_MAX = 120;
export const SUBJECT_LENGTH_MIN = 1;
export const SUBJECT_LENGTH_MAX = 128;
export const BULK_MOVE_FILES_MIN = 1;
export const BULK_MOVE_FILES_MAX = 1000;
export const LIST_LIMIT_MIN = 1;
export const LIST_LIMIT_MAX = 100;
export const LIST_LIMIT_DEFAULT = 50;
export const LIBRARY_FILES_LIMIT_MIN = 1;
export const LIBRARY_FILES_LIMIT_MAX = 60;
export const LIBRARY_FILES_LIMIT_DEFAULT = 40;
export const CURSOR_LENGTH_MAX = 4096;
export const SEARCH_LENGTH_MIN = 2;
export const TITLE_LENGTH_MAX = 200;
export const ALT_TEXT_LENGTH_MAX = 1000;
export const WATERMARK_OPACITY_MIN = 0;
export const WATERMARK_OPACITY_MAX = 100;
export const WATERMARK_OPACITY_DEFAULT = 100;

// Numbers of Resources and their fields, and of Credentials

export const FILE_REVISION_FIRST = 1;
export const RECIPE_SCHEMA_VERSION = 1;
export const PROVIDER_A_TOLERANCE_SECONDS = 300;

// Identifiers and counts: decided

export const LIBRARY_SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const FOLDER_LEVELS_MAX = 10;
export const FOLDER_LENGTH_MAX = 255;
/** For names of projects, keys, presets, recipes and organizations. */
export const NAME_LENGTH_MAX = 120;
export const TRANSFORM_CHAIN_LENGTH_MAX = 512;
export const CORS_ALLOWED_ORIGINS_MAX = 200;
export const ORIGIN_LENGTH_MAX = 300;
export const URL_LENGTH_MAX = 2048;
export const HOSTNAME_LENGTH_MAX = 253;
export const ORIGINAL_FILENAME_LENGTH_MAX = 255;
export const RAW_FILENAME_LENGTH_MAX = 150;
export const BLOCK_REASON_LENGTH_MAX = 500;
export const NOTE_LENGTH_MAX = 4000;
export const EMAIL_LENGTH_MAX = 254;
/** Watermark offsets are limited to this number of output pixels, in either direction. */
export const WATERMARK_OFFSET_PX_MAX = 8192;
export const WATERMARK_OFFSET_PX_DEFAULT = 0;
export const PRICING_MULTIPLIER_MAX = 1000;
export const PRICING_MULTIPLIER_DECIMALS_MAX = 6;
export const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;

// Uploads

export const UPLOAD_SINGLE_LIFETIME_SECONDS = 15 * MINUTE;
export const UPLOAD_MULTIPART_LIFETIME_SECONDS = 12 * HOUR;
export const MULTIPART_PART_URL_LIFETIME_SECONDS = 15 * MINUTE;
export const MULTIPART_PART_BYTES_MIN = 5 * MIB;
export const SVG_BYTES_MAX = 2_000_000;
export const PROXY_UPLOAD_BYTES_MAX_DEFAULT = 100_000_000;
/** The maximum pixels of each kind of source; PNG with 8 bits a channel. */
export const JPEG_PIXELS_MAX = 128 * MEGAPIXEL;
export const PNG_PIXELS_MAX = 128 * MEGAPIXEL;
export const GIF_PIXELS_MAX = 50 * MEGAPIXEL;
export const TIFF_PIXELS_MAX = 50 * MEGAPIXEL;
export const BMP_PIXELS_MAX = 50 * MEGAPIXEL;
export const WEBP_LOSSY_PIXELS_MAX = 50 * MEGAPIXEL;
/** For images with 16 bits a channel, whatever their type. */
export const DEEP_COLOR_PIXELS_MAX = 50 * MEGAPIXEL;
export const WEBP_LOSSLESS_PIXELS_MAX = 49 * MEGAPIXEL;
export const WEBP_LOSSLESS_ALPHA_PIXELS_MAX = 32 * MEGAPIXEL;
export const WEBP_LOSSY_ALPHA_PIXELS_MAX = 38 * MEGAPIXEL;
export const AVIF_PIXELS_MAX = 28 * MEGAPIXEL;
export const SVG_RASTER_LONG_EDGE_MIN = 2048;
export const SVG_RASTER_PIXELS_MAX = 2048 * 2048;
/** The longest edge of a WebP, so that every raster grid is possible in every format. */
export const SVG_RASTER_LONG_EDGE_MAX = 16_383;
export const UNINDEXED_FILES_THRESHOLD_DEFAULT = 100_000;
export const REQUEST_BODY_BYTES_MAX = 256 * KIB;
export const INBOUND_WEBHOOK_BODY_BYTES_MAX = 1 * MIB;
/** Decided: fields and items of one body. */
export const REQUEST_BODY_VALUES_MAX = 5000;
export const INBOUND_WEBHOOK_BODY_VALUES_MAX = 100_000;
/** Decided: levels of objects and lists in each other, and fields of one object. */
export const JSON_DEPTH_MAX = 64;
export const JSON_FIELDS_MAX = 1000;
/** Decided: of all bodies that a process holds; twice as much memory while they grow, of its pod's 768 MiB. */
export const BODIES_HELD_BYTES_MAX = 64 * MIB;
/** … and of those from one network: an IPv4 address, or the /64 of an IPv6 address. */
export const BODIES_OF_NETWORK_BYTES_MAX = 16 * MIB;
/** The beginning of each body, which does not count for these limits: about what a connection costs. */
export const BODY_UNCOUNTED_BYTES = 16 * KIB;
export const BODIES_RETRY_AFTER_SECONDS = 5;
/** The minimum rate of a body through the upload proxy in a window: slower clients are refused. */
export const UPLOAD_RATE_BYTES_MIN = 16_000;
export const UPLOAD_RATE_WINDOW_SECONDS = 30;
/** A request for new part URLs is refused with 410 when less than this is left of the session. */
export const MULTIPART_RESIGN_REMAINING_SECONDS_MIN = 2;

// Processing error codes

export const PROCESSING_TIMEOUTS_MAX = 3;

// Uploads: decided

export const INGEST_BYTES_MAX_DEFAULT = 250_000_000;
export const UPLOAD_BYTES_MIN = 1;
export const MULTIPART_PARTS_MAX = 10_000;
export const ETAG_LENGTH_MAX = 200;
/** For the body of complete: a list of all parts, each with its number and its ETag. */
export const COMPLETE_BODY_BYTES_MAX = 4 * MIB;
export const COMPLETE_BODY_VALUES_MAX = 30_010;
export const INGEST_LEASE_SECONDS = 60;
export const PROCESSING_ATTEMPTS_MAX = 5;
/** How often an attempt that ended with the whole installation does not count against an upload. */
export const PROCESSING_KILLS_EXCUSED_MAX = 20;
/** A longer sanitized image is too costly to keep: `image_too_large`. */
export const SANITIZED_BYTES_MAX = 400_000_000;
/** For an image that sanitizing made over 1.5 times as long, such as one with a palette. */
export const SANITIZED_GROWN_BYTES_MAX = 200_000_000;
/** The longest side that a format's codecs accept, however short the other: `image_too_large`. */
export const JPEG_SIDE_PIXELS_MAX = 65_500;
export const AVIF_SIDE_PIXELS_MAX = 16_384;
/** For all other formats. */
export const SIDE_PIXELS_MAX = 65_535;
/** For each saved block (EXIF, ICC, XMP); a longer block is dropped. */
export const SAVED_METADATA_BYTES_MAX = 4 * MIB;
/** Lossy sources keep their estimated quality in this range; common-table JPEGs also below it. */
export const STORED_QUALITY_MIN = 75;
/** For a JPEG whose blocks move when it is rotated upright. */
export const STORED_JPEG_MOVED_QUALITY_MIN = 93;
/** For lossy WebP, whose losses add up: below it a second encoding is visible. */
export const STORED_WEBP_QUALITY_MIN = 88;
export const STORED_QUALITY_MAX = 95;
export const OLD_CONTENT_GRACE_SECONDS = 1 * HOUR;
/** A derived image unread for this long is deleted, and rendered again on the next request. */
export const DERIVED_UNREAD_SECONDS_MAX = 30 * DAY;
export const IDEMPOTENCY_LIFETIME_SECONDS = 24 * HOUR;
export const IDEMPOTENCY_LEASE_SECONDS = 60;
/** How long our clients repeat a call of which an earlier try is in progress: a killed one's key is free by then. */
export const IDEMPOTENCY_REPEAT_SECONDS = IDEMPOTENCY_LEASE_SECONDS + 10;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

// SVG complexity: decided

export const SVG_DEPTH_MAX = 64;
export const SVG_ELEMENTS_MAX = 20_000;
export const SVG_TEXT_BYTES_MAX = 200_000;
export const SVG_STYLE_BYTES_MAX = 100_000;
/** Elements after every `use` has been replaced by its target. */
export const SVG_EXPANDED_ELEMENTS_MAX = 50_000;
/** Elements drawn separately and then composed: opacity, mask, clip, blend mode, filter. */
export const SVG_LAYERS_MAX = 500;
/** Nested layers: each holds an image of the whole raster grid. */
export const SVG_LAYER_DEPTH_MAX = 32;
/** Style sheet rules times elements. */
export const SVG_STYLE_MATCHES_MAX = 40_000_000;
/** The estimated time, on the safe side, that drawing an SVG once may take on one core. */
export const SVG_DRAWING_NS_MAX = 10_000_000_000;
/** Blur deviation and morphology radius, in pixels of the raster grid. */
export const SVG_FILTER_RADIUS_MAX = 250;
export const SVG_TURBULENCE_OCTAVES_MAX = 8;
/** Columns or rows of a convolution's kernel. */
export const SVG_CONVOLVE_ORDER_MAX = 9;

// Upload helper constants

export const HELPER_SINGLE_PUT_BYTES_MAX = 16 * MIB;
export const HELPER_PART_BYTES_DEFAULT = 8 * MIB;
export const HELPER_PART_BYTES_MIN = 5 * MIB;
export const HELPER_PARTS_CONCURRENT_MAX = 3;
export const HELPER_PART_RETRIES_MAX = 3;
export const HELPER_POLL_SECONDS_MAX = 30;
/** Units of a route's maxSize strings: binary, whatever their letters suggest. */
export const HELPER_SIZE_UNITS = { B: 1, KB: KIB, MB: MIB, GB: 1024 * MIB } as const;

// Webhooks

/** 2 KB in the stricter reading. */
export const WEBHOOK_BODY_BYTES_MAX = 2000;
export const WEBHOOK_TIMEOUT_SECONDS = 10;
export const WEBHOOK_ATTEMPTS_MAX = 10;
export const WEBHOOK_BACKOFF_FIRST_SECONDS = 30;
export const WEBHOOK_BACKOFF_SECONDS_MAX = 1 * HOUR;
export const WEBHOOK_RETRY_INTERVAL_SECONDS = 1 * MINUTE;
/** The waits after failed attempts one to nine; a tenth failure abandons the delivery. */
export const WEBHOOK_RETRY_DELAYS_SECONDS = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] as const;
export const WEBHOOK_TOLERANCE_SECONDS_DEFAULT = 300;
/** Decided: a rotated callback secret also signs, together with the new one, for this long. */
export const CALLBACK_SECRET_OVERLAP_SECONDS = 24 * HOUR;
export const CALLBACK_SECRET_BYTES = 32;
/** Decided: how many secrets sign at once at most, however often they are rotated within a day. */
export const CALLBACK_SECRETS_SIGNING_MAX = 10;
/** Decided: how much of an endpoint's answer is read, and how much of it the delivery log keeps. */
export const WEBHOOK_ANSWER_BYTES_MAX = 4 * KIB;
export const WEBHOOK_EXCERPT_LENGTH_MAX = 1000;

// Rates

export const SIGNED_URL_MINTS_PER_MINUTE_MAX = 60;
export const ACCESS_REQUESTS_PER_MINUTE_PER_IP_MAX = 10;
export const ACCESS_REQUESTS_PER_HOUR_PER_EMAIL_MAX = 3;
export const LIBRARY_SESSION_UPLOADS_MIN = 1;
export const LIBRARY_SESSION_UPLOADS_MAX = 1000;
export const LIBRARY_SESSION_UPLOADS_DEFAULT = 100;
/** Decided: defaults of deployment settings. */
export const FAILED_AUTHENTICATIONS_PER_MINUTE_PER_IP_DEFAULT = 20;
export const WRITES_PER_MINUTE_PER_PROJECT_DEFAULT = 6000;

// Library sessions

export const LIBRARY_SESSION_EXPIRES_SECONDS_MIN = 60;
export const LIBRARY_SESSION_EXPIRES_SECONDS_MAX = 3600;
export const LIBRARY_SESSION_EXPIRES_SECONDS_DEFAULT = 3600;
export const LIBRARY_SESSION_FILE_BYTES_DEFAULT = 25 * MIB;
export const LIBRARY_SESSION_PUT_LIFETIME_SECONDS_MAX = 15 * MINUTE;
export const LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX = 10 * MINUTE;
/** Decided: after a revocation, mints are refused for this long. */
export const LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS = 60;

// Metering

export const CREDIT_BYTES = 1 * MIB;
export const DELIVERY_CREDITS_MIN = 1;
export const RAW_CREDIT_FACTOR = 2;
export const WATERMARK_CREDIT_FACTOR = 1.2;
/** The same factor in whole tenths, so that credits are computed in exact integers. */
export const WATERMARK_CREDIT_FACTOR_TENTHS = 12;
export const PRICING_MULTIPLIER_DEFAULT = 1;
export const HOUR_FINAL_AFTER_HOURS = 2;
/** The rollup runs at five past each hour, the charge at 00:20 UTC. */
export const HOURLY_ROLLUP_MINUTE = 5;
export const DAILY_CHARGE_HOUR = 0;
export const DAILY_CHARGE_MINUTE = 20;
export const DAILY_CHARGE_RECOMPUTED_DAYS = 3;
export const USAGE_RANGE_DAYS_DEFAULT = 30;
export const USAGE_RANGE_DAYS_MAX = 90;
export const RECONCILIATION_DAYS = 7;

// Staff previews

export const PREVIEWS_CONCURRENT_MAX = 1;
export const PREVIEWS_WAITING_MAX = 32;
export const PREVIEW_SOURCE_BYTES_MAX = 64 * MIB;
export const PREVIEW_READ_SECONDS_MAX = 15;
/** The box sizes of previews. */
export const PREVIEW_THUMB_PIXELS = 480;
export const PREVIEW_LARGE_PIXELS = 1600;

// Automatic scanner

/** The longer side of the image sent to a scanner: models look at less. */
export const SCAN_PICTURE_PIXELS = 512;
/** The threshold of the flag `nudity`, unless TINTYPE_SCANNER_THRESHOLDS sets another. */
export const SCAN_NUDITY_THRESHOLD = 0.85;
export const SCAN_TIMEOUT_SECONDS = 10;
export const SCAN_ANSWER_BYTES_MAX = 64 * KIB;
export const SCAN_SCORES_MAX = 64;
/** Attempts for an image that cannot be scanned. */
export const SCAN_ATTEMPTS_MAX = 5;
export const SCAN_RETRY_SECONDS_FIRST = 10;
export const SCAN_RETRY_SECONDS_MAX = 15 * MINUTE;
/** How long the scanner may be away before waiting revisions are never scanned. */
export const SCAN_WAIT_HOURS_MAX = 24;

// Signing keys and signed URLs

export const SIGNING_KEY_RETIRE_HOURS = 24;
/** Decided: per project at one time; a rotation beyond it waits until a key retires. */
export const SIGNING_KEYS_VERIFYING_MAX = 1000;
export const SIGNED_URL_LIFETIME_SECONDS_MIN = 60;
export const SIGNED_URL_LIFETIME_SECONDS_MAX = 3600;
export const SIGNED_URL_LIFETIME_SECONDS_DEFAULT = 300;
export const API_KEY_SECRET_HEX_LENGTH = 36;
export const API_KEY_LAST_LENGTH = 4;
export const API_KEY_PREFIX = 'tin_live_';

// Transform operations and output rules

export const RESIZE_SIDE_PIXELS_MIN = 1;
export const RESIZE_SIDE_PIXELS_MAX = 8192;
export const OUTPUT_SIDE_PIXELS_MAX = 8192;
export const OUTPUT_PIXELS_MAX = 4096 * 4096;
export const OUTPUT_AVIF_PIXELS_MAX = 12 * MEGAPIXEL;
export const UPSCALE_AREA_FACTOR_MAX = 16;
/** Any source may be enlarged to this area, whatever its own. */
export const UPSCALE_PIXELS_ALWAYS = 2048 * 2048;
export const QUALITY_MIN = 1;
export const QUALITY_MAX = 100;
/** Sources above these cannot be transformed. Spec: Output rules 4. */
export const TRANSFORM_AVIF_SOURCE_PIXELS_MAX = 15 * MEGAPIXEL;
export const TRANSFORM_WEBP_LOSSLESS_SOURCE_PIXELS_MAX = 25 * MEGAPIXEL;
export const TRANSFORM_WEBP_LOSSLESS_ALPHA_SOURCE_PIXELS_MAX = 22.5 * MEGAPIXEL;
/** Decided: larger AVIF and WebP sources are rendered to at most the next limit. */
export const LARGE_SOURCE_PIXELS_MIN = 12 * MEGAPIXEL;
export const LARGE_SOURCE_OUTPUT_PIXELS_MAX = 4_194_304;
/** Decided: encoder settings, and the half-way images kept at ingest. */
export const JPEG_QUALITY_DEFAULT = 80;
export const WEBP_QUALITY_DEFAULT = 80;
export const AVIF_QUALITY_DEFAULT = 50;
/** Compression level 6, in the mapping of quality to PNG levels. */
export const PNG_QUALITY_DEFAULT = 34;
export const CHROMA_FULL_QUALITY_MIN = 90;
export const AVIF_EFFORT_LOW_PIXELS_MIN = 2 * MEGAPIXEL;
export const JPEG_OPTIMIZED_PIXELS_MAX = 16 * MEGAPIXEL;
/** The long edges of the half-way images. */
export const MEZZANINE_LONG_EDGES_PX = [2048, 1024, 720] as const;
/** A half-way image is read only if both sides have this many times the requested pixels. */
export const MEZZANINE_OUTPUT_FACTOR_MIN = 1.6;
export const MEZZANINE_JPEG_QUALITY = 92;
/** For a longer render the reply contains only its key, and the image is read from storage. */
export const RENDER_REPLY_BYTES_MAX = 1 * MIB;
/** Larger than the side of any accepted source. */
export const CROP_COORDINATE_PX_MAX = 999_999_999;

// Caching and response headers

export const PUBLIC_IMAGE_MAX_AGE_SECONDS = 300;
export const PUBLIC_IMAGE_SHARED_MAX_AGE_SECONDS = 31_536_000;
export const LOOKUP_CACHE_SECONDS_MAX = 30;
export const EMBED_ASSET_CACHE_SECONDS = 300;
export const STATUS_CACHE_SECONDS = 30;
export const STATUS_SAMPLES_HOURS = 24;
/** Decided: incidents of a week, so that people find those that affected them. */
export const STATUS_INCIDENTS_DAYS = 7;
export const STATUS_INCIDENTS_MAX = 50;
export const INCIDENT_SERVICES_MAX = 100;
/** Decided: consecutive samples, one a minute. */
export const STATUS_FAILED_SAMPLES_TO_OPEN = 3;
export const STATUS_GOOD_SAMPLES_TO_CLOSE = 5;
/** Failed samples further apart are not consecutive: the state between them is unknown. */
export const STATUS_SAMPLES_APART_MINUTES_MAX = 3;
/** A probe without an answer after this time has failed. */
export const STATUS_PROBE_SECONDS = 10;
/** Uploads and webhooks that wait longer indicate that nobody works on them. */
export const STATUS_WAITING_SECONDS_MAX = 120;
/** Decided. */
export const LOOKUP_STALE_SECONDS_MAX = 5 * MINUTE;
/** An unknown kid causes a new database query, at most once per host in this time. */
export const UNKNOWN_KID_RELOAD_SECONDS_MIN = 1;
export const FAILED_RENDER_REMEMBERED_SECONDS = 30;
export const RENDER_DEADLINE_SECONDS = 15;
export const BUSY_RETRY_AFTER_SECONDS = 2;
