/**
 * One example of each record: a shop, its key and one picture. Each is checked against its schema.
 */
import { apiKeyScopes } from '../../../runtime/core/scopes.ts';
import { exampleIds } from './example-ids.ts';
import { libraryExamples } from './library-examples.ts';
import { staffRecordExamples } from './staff-examples.ts';

const created_at = '2026-11-02T09:30:00.000Z';
const times = { created_at, updated_at: created_at };
const organization_id = exampleIds.org;
const project_id = exampleIds.prj;
const kid = exampleIds.kid;
const upload_id = exampleIds.upl;
const file_id = exampleIds.file;

const organization = {
  organization_id,
  name: 'Example Shop',
  credit_balance: 48210,
  quota_exceeded_at: null,
  billing_exempt: false,
  billing_exempt_until: null,
  ...times,
};

const apiKey = {
  id: exampleIds.key,
  name: 'shop server',
  scopes: apiKeyScopes,
  prefix: 'tin_live_',
  last_four: '9c1e',
  status: 'active',
  last_used_at: '2026-11-02T10:02:41.000Z',
};

const upload = {
  upload_id,
  project_slug: 'shop',
  file_slug: 'red-shoe.jpg',
  status: 'created',
  mode: 'direct',
  content_type: 'image/jpeg',
  size_bytes: 2_481_920,
  error_code: null,
  expires_at: '2026-11-02T09:45:00.000Z',
  ready_at: null,
  direct: {
    put_url: `https://storage.example/ingest/${exampleIds.upl}?X-Amz-Signature=…`,
    headers: { 'content-type': 'image/jpeg', 'content-length': '2481920' },
    expires_at: '2026-11-02T09:45:00.000Z',
  },
  sha256: null,
  library: 'default',
  folder: '',
  file_id: null,
  revision: null,
  ...times,
};

const counted = { requests: 1200, bytes: 96_400_000, transforms: 1100, credits: 1200 };

const project = {
  project_slug: 'shop',
  project_id,
  organization_id,
  name: 'Shop',
  delivery_access: 'public',
  default_delivery_host: 'shop.img.example',
  custom_domains: [],
  cors_allowed_origins: ['https://shop.example'],
  resolution_presets: { thumb: 'resize/200x200/smart' },
  allowed_transform_chains: ['resize/640x480', 'preset:thumb'],
  default_watermark_preset_id: null,
  raw_download_enabled: false,
  callback_url: null,
  callback_secret_set: false,
  status: 'active',
  suspended_by: null,
  storage_hard_limit_bytes: 53_687_091_200,
  storage_limit_source: 'plan',
  file_count: 1,
  storage_bytes: 2_390_114,
  active_signing_kid: kid,
  pricing_multiplier: 1,
  ...times,
};

export const examples = {
  ApiKey: { ...apiKey, ...times },
  CallingKey: { ...apiKey, project_slug: 'shop', project_id, organization_id },
  CountedEvents: { received: 2, matched: 1, ignored: 1 },
  CreatedApiKey: {
    ...apiKey,
    last_used_at: null,
    ...times,
    plaintext_secret: 'tin_live_3f00000000000000000000000000000000009c1e',
  },
  File: {
    file_slug: 'red-shoe.jpg',
    file_id,
    status: 'ready',
    revision: 1,
    width: 4032,
    height: 3024,
    url: 'https://shop.img.example/originals/f/red-shoe.jpg',
    sha256: '4f2c7d0e9b1a5c38d6f04e7a92b3c81d5e60f7a8b9c2d3e4f5061728394a5b6c',
    title: 'Red shoe',
    alt_text: 'A red running shoe, seen from the left',
    folder: '',
    library: 'default',
    original_filename: null,
    content_type: 'image/jpeg',
    size_bytes: 2_390_114,
    dominant_color: '#c23a2b',
    thumb_hash: 'HBkSHYSIeHiPiHh8eJd4eTN0EEQG',
    ...times,
  },
  Health: { status: 'ok' },
  Me: {
    user: {
      user_id: exampleIds.usr,
      subject: 'auth0|5f7c8ec7c33c6c004bbafe82',
      email: 'ada@shop.example',
      first_name: 'Ada',
      last_name: 'Lovelace',
      name: 'Ada Lovelace',
      ...times,
    },
    organization,
    role: 'owner',
    staff: false,
  },
  ...libraryExamples,
  MovedFiles: {
    moved: [{ file_slug: 'red-shoe.jpg', library: 'press', folder: '2026/spring' }],
    not_found: ['blue-shoe.jpg'],
  },
  ModerationNote: {
    project_slug: 'shop',
    file_slug: 'red-shoe.jpg',
    note: 'The model release is on file.',
    author: 'auth0|5f7c8ec7c33c6c004bbafe82',
    ...times,
  },
  Organization: organization,
  Project: project,
  Readiness: { ready: true, checks: { database: true, ingest: true, content: true } },
  Recipe: {
    id: exampleIds.rcp,
    name: 'hero',
    transform_chain: 'resize/1600x/format/webp',
    schema_version: 1,
    valid: true,
    ...times,
  },
  SignedUrl: {
    url: `https://shop.img.example/resize/640x480/f/red-shoe.jpg?exp=1793613000&kid=${kid}&sig=…`,
    kid,
    expires_at: '2026-11-02T09:50:00.000Z',
  },
  TakenEvent: { status: 'processed' },
  CancelledSubscription: { status: 'scheduled_cancel' },
  SigningKey: { kid, status: 'active', retire_after: null, ...times },
  Upload: upload,
  UploadParts: {
    parts: [
      { part_number: 1, url: 'https://storage.example/ingest/…?partNumber=1&X-Amz-Signature=…' },
    ],
    urls_expire_at: '2026-11-02T09:45:00.000Z',
  },
  Usage: {
    project_slug: 'shop',
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-02T00:00:00.000Z',
    range_capped: false,
    storage: { file_count: 1, storage_bytes: 2_390_114 },
    hourly: [
      {
        window_start: '2026-11-01T09:00:00.000Z',
        ...counted,
        computed_at: '2026-11-01T10:05:02.000Z',
      },
    ],
    daily: [
      {
        day: '2026-11-01',
        ...counted,
        charged_credits: 1200,
        hours_closed: 24,
        finalized_at: '2026-11-02T02:00:00.000Z',
      },
    ],
    credit_balance: 48210,
    reconciled_through: '2026-11-02T07:00:00.000Z',
  },
  WebhookDelivery: {
    id: `upload.ready:${upload_id}`,
    event: 'upload.ready',
    url: 'https://shop.example/hooks/images',
    status: 'retry scheduled',
    body: `{"id":"upload.ready:${upload_id}","event":"upload.ready","created_at":"${created_at}","data":{"upload_id":"${upload_id}","project_id":"${project_id}","file_id":"${file_id}","file_slug":"red-shoe.jpg","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","revision":1}}`,
    attempts: [
      {
        number: 1,
        asked_by: 'schedule',
        started_at: created_at,
        duration_ms: 84,
        response_status: 500,
        response_excerpt: 'Internal Server Error',
        error: 'answered 500: only 2xx acknowledges',
      },
    ],
    next_attempt_at: '2026-11-02T09:30:31.000Z',
    last_status: 500,
    last_error: 'answered 500: only 2xx acknowledges',
    delivered_at: null,
    request_id: '0b6bbd2f-5e56-4f8c-9d3a-9d2f7b1c5e11',
    ...times,
  },
  WatermarkPreset: {
    id: exampleIds.wm,
    name: 'logo',
    file_slug: 'logo.png',
    x_offset: -24,
    y_offset: -24,
    opacity: 80,
    ...times,
  },
  StaffProject: { ...project, nudity_auto_block: true },
  ...staffRecordExamples,
} as const;
