// Spec: Uploads; Errors. Rejected requests to create an upload, and rejected part lists.
import { expect } from 'vitest';
import { createProject } from '../../../support/api-client.ts';
import { INGEST_BYTES_MAX, PROXY_BYTES_MAX, STAFF_SUBJECT } from '../../../support/api-server.ts';
import {
  describeRefusals,
  LARGE,
  MIB,
  type Refusal,
  useUploads,
} from '../../../support/upload-refusals.ts';

const uploads = useUploads();
const { api, owner, home, ask, make, rowOf, at } = uploads;

const TYPES = ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff', 'bmp', 'svg+xml'];
const part = (part_number: number, etag = '"0123456789abcdef0123456789abcdef"') => ({
  part_number,
  etag,
});
const noFaults = { part_count: 3, missing: [], doubled: [], unknown: [], issues: [] };

const ofCreation: Refusal[] = [
  [
    '400 unsupported_content_type',
    'which types are accepted',
    async () => ({
      answer: await ask({ content_type: 'image/heic' }),
      details: { accepted: TYPES.map((name) => `image/${name}`) },
    }),
  ],
  [
    '403 storage_quota_exceeded',
    'the limit and what counts toward it',
    async () => {
      const small = `/v1/projects/${(await createProject(owner)).project_slug}`;
      await api.session(STAFF_SUBJECT)('PATCH', small, { storage_hard_limit_bytes: 1000 });
      await make({ size_bytes: 900 }, small);
      return {
        answer: await ask({ size_bytes: 101 }, small),
        details: { limit_bytes: 1000, in_use_bytes: 0, reserved_bytes: 900, size_bytes: 101 },
        says: /may store 1000 bytes: 0 are in use and 900 reserved .* no room for 101 more\./,
      };
    },
  ],
  [
    '403 project_suspended',
    'what to do',
    async () => {
      const mine = `/v1/projects/${(await createProject(owner)).project_slug}`;
      await owner('PATCH', mine, { status: 'suspended' });
      return { answer: await ask({}, mine) };
    },
  ],
  [
    '404 library_not_found',
    'what to do',
    async () => ({ answer: await ask({ library: 'press' }) }),
  ],
  [
    '404 upload_not_found',
    'what to check',
    async () => ({
      answer: await owner('POST', `${home.path}/uploads/upl_${'0'.repeat(26)}/complete`),
    }),
  ],
  [
    '409 media_library_disabled',
    'what to leave out',
    async () => {
      api.change({ settings: { mediaLibraryWrites: 'disabled' } });
      return { answer: await ask({ folder: 'a' }) };
    },
  ],
  [
    '413 file_too_large',
    'the largest size',
    async () => ({
      answer: await ask({ size_bytes: INGEST_BYTES_MAX + 1 }),
      details: { max_bytes: INGEST_BYTES_MAX },
    }),
  ],
  [
    '413 file_too_large',
    'the largest size for SVG',
    async () => ({
      answer: await ask({ size_bytes: 2_000_001, content_type: 'image/svg+xml' }),
      details: { max_bytes: 2_000_000 },
    }),
  ],
  [
    '413 proxy_upload_too_large',
    'the largest size in this mode',
    async () => ({
      answer: await ask({ size_bytes: PROXY_BYTES_MAX + 1, mode: 'proxy' }),
      details: { max_bytes: PROXY_BYTES_MAX, mode: 'proxy' },
    }),
  ],
];

const ofParts: Refusal[] = [
  [
    '400 invalid_parts',
    'which numbers are missing, duplicate or unknown',
    async () => ({
      answer: await at(await make(LARGE), 'complete', {
        parts: [part(1), part(1), part(3), part(9), part(1.5)],
      }),
      details: {
        ...noFaults,
        missing: [2],
        doubled: [1],
        unknown: [9, 1.5],
        issues: [{ path: 'parts[4]', message: expect.stringContaining('part_number') }],
      },
      says: /^Missing from the list: 2; listed more than once: 1; not of this upload: 9, 1.5; .* has 3 parts/,
    }),
  ],
  [
    '400 invalid_parts',
    'which entry is invalid',
    async () => ({
      answer: await at(await make(LARGE), 'complete', { parts: [part(1), part(2), part(3, '')] }),
      details: {
        ...noFaults,
        issues: [{ path: 'parts[2]', message: expect.stringContaining('etag') }],
      },
      says: /^Not readable: parts\[2\]\./,
    }),
  ],
  [
    '400 invalid_parts',
    'that it is not a list',
    async () => ({
      answer: await at(await make(LARGE), 'complete', { parts: 'all of them' }),
      details: {
        ...noFaults,
        missing: [1, 2, 3],
        issues: [{ path: 'parts', message: 'expected a list of { part_number, etag }' }],
      },
    }),
  ],
  [
    '400 invalid_parts',
    'what storage says about missing parts',
    async () => ({
      answer: await at(await make(LARGE), 'complete', {
        parts: [1, 2, 3].map((number) => part(number)),
      }),
      details: noFaults,
      says: /^Storage does not have these parts with these ETags: .*can still be completed\.$/,
    }),
  ],
  [
    '400 parts_required',
    'how many parts there are',
    async () => ({
      answer: await at(await make(LARGE), 'complete'),
      details: { part_count: 3 },
    }),
  ],
  [
    '400 not_multipart',
    'what to leave out',
    async () => ({
      answer: await at(await make(), 'complete', { parts: [part(1)] }),
    }),
  ],
  [
    '400 invalid_part_size',
    'the smallest size of a part, and how many parts would be valid',
    async () => ({
      answer: await ask({ size_bytes: 10 * MIB, parts: 3 }),
      details: { min_bytes: 5 * MIB, max_parts: 2 },
      says: /or ask for at most 2\.$/,
    }),
  ],
  [
    '400 invalid_part_size',
    'that a small file has no parts',
    async () => ({
      answer: await ask({ size_bytes: 100, parts: 2 }),
      details: { min_bytes: 5 * MIB, max_parts: 1 },
      says: /Leave parts out, and send the file with one PUT\.$/,
    }),
  ],
  [
    '400 multipart_complete_failed',
    'what storage says',
    async (bucket) => {
      const upload = await make(LARGE);
      const { ingest_key, storage_upload_id } = await rowOf(upload);
      await bucket.abortMultipart(ingest_key, storage_upload_id ?? '');
      const parts = [1, 2, 3].map((number) => part(number));
      return { answer: await at(upload, 'complete', { parts }), says: /Storage says: ./ };
    },
  ],
];

describeRefusals(uploads, [...ofCreation, ...ofParts]);
