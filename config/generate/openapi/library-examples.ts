/** Examples of libraries and of the picker's responses. */
import { exampleIds } from './example-ids.ts';

const created_at = '2026-11-02T09:30:00.000Z';
const upload_id = exampleIds.upl;

const libraryFile = {
  file_slug: exampleIds.upl,
  file_id: exampleIds.file,
  revision: 1,
  width: 4000,
  height: 3000,
  title: null,
  alt_text: null,
  folder: '2026/spring',
  original_filename: 'red-shoe.jpg',
  content_type: 'image/jpeg',
  size_bytes: 2_390_114,
  dominant_color: '#b3312c',
  thumb_hash: '1QcSHQRnh493V4dIh4eXh1h4kJUI',
  created_at,
  url: `https://shop.img.example/originals/f/${upload_id}`,
  thumbnail_url: `https://shop.img.example/resize/320x320/fit/format/webp/f/${upload_id}`,
};

export const libraryExamples = {
  Library: {
    slug: 'press',
    name: 'Press pictures',
    allowed_origins: ['https://cms.example.com'],
    library_id: 'lib_01kbr3z1m7c8v2m7x4n9w6d3bq',
    created_at,
    updated_at: created_at,
  },
  LibraryFile: libraryFile,
  LibrarySession: {
    session_id: 'ses_01kbr41x5m7c8v2m7x4n9w6d3b',
    token: 'ls1.t1.eyJzZXNzaW9uX2lkIjoi….Q2hlY2tlZA',
    embed_url:
      'https://api.img.example/embed/shop/press?o=https%3A%2F%2Fcms.example.com&exp=1793616600&kid=t1&s=…',
    expires_at: '2026-11-02T10:50:00.000Z',
    library: 'press',
    folder: '2026',
    permissions: ['browse', 'upload'],
    origin: 'https://cms.example.com',
    max_file_bytes: 26_214_400,
    max_uploads: 100,
  },
  LibraryUpload: {
    upload_id,
    status: 'ready',
    content_type: 'image/jpeg',
    size_bytes: 2_481_920,
    error_code: null,
    expires_at: '2026-11-02T10:05:00.000Z',
    ready_at: created_at,
    file: libraryFile,
  },
  RevokedLibrarySessions: {
    revoked_at: '2026-11-02T09:50:00.000Z',
    mint_again_at: '2026-11-02T09:51:00.000Z',
  },
};
