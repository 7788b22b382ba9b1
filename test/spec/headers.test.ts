// Spec: Caching and response headers, on the delivery host. The tests of each operation check the headers of the
// management API.
import { describe, expect, it } from 'vitest';
import {
  imageHeaders,
  notModifiedHeaders,
  preflightHeaders,
  refusalHeaders,
  type ServedImage,
} from '../../runtime/core/delivery/headers.ts';
import { printHelpLink } from '../../runtime/core/error-help/help-link.ts';
import { must } from '../support/rows.ts';
import additions from './additions.json' with { type: 'json' };
import specification from './headers.json' with { type: 'json' };

type Row = {
  subject: string;
  headers?: Record<string, string | undefined>;
  cache_control_has?: string;
};

const base = { revision: 3, project_id: 'prj_1', file_id: 'file_1' };
const named = {
  ...base,
  content_type: 'image/webp',
  file_slug: 'a',
  original_filename: null,
} as const;
const shown = { ...base, content_type: 'image/webp', kind: 'derived', etag: '"e"' } as const;

const images: Record<string, ServedImage> = {
  'public images': { ...shown, access: 'public' },
  images: { ...shown, access: 'public' },
  'public images while the database is away': { ...shown, access: 'public', kept_seconds_max: 99 },
  'signed URLs': { ...shown, access: { seconds_left: 42 } },
  'raw downloads': { ...named, kind: 'raw' },
  'originals of SVG': {
    ...shown,
    kind: 'originals',
    content_type: 'image/svg+xml',
    access: 'public',
  },
};
const answers: Record<string, Readonly<Record<string, string>>> = {
  ...Object.fromEntries(Object.entries(images).map(([name, image]) => [name, imageHeaders(image)])),
  OPTIONS: preflightHeaders(),
  'error responses': refusalHeaders({ help: printHelpLink('https://api.test', 'not_found') }),
  busy: refusalHeaders({ retry_after_seconds: 2 }),
};

const rows: Row[] = [...specification.rows, ...additions.headers];
const everywhere = rows.filter((row) => row.subject === 'every delivery response');

/** Placeholders such as `<seconds to exp>` match any value; the rest is literal. */
function pattern(value: string): RegExp {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/<[^>]*>/g, '.+')}`);
}

describe('the headers of a delivery host', () => {
  it.each(rows.filter((row) => Object.hasOwn(answers, row.subject)))(
    'of $subject are as specified',
    ({ subject, headers = {}, cache_control_has = '' }) => {
      const answer = answers[subject] ?? {};
      expect(answer['cache-control'] ?? '').toContain(cache_control_has);
      for (const [name, value] of Object.entries(headers)) {
        expect(answer[name], name).toMatch(pattern(value ?? ''));
      }
    },
  );

  it.each(Object.entries(answers))('of %s include those of every response', (_, answer) => {
    for (const { headers = {} } of everywhere) expect(answer).toMatchObject(headers);
  });

  it('include the revision, the ETag and Cache-Control on a 200 and a 304', () => {
    const image = must(images['public images']);
    for (const answer of [imageHeaders(image), notModifiedHeaders(image)]) {
      expect(answer).toMatchObject({
        etag: '"e"',
        'x-service-revision': '3',
        'cache-control': 'public, max-age=300, s-maxage=31536000',
      });
    }
  });

  it('forbid storing a raw download or an error', () => {
    for (const subject of ['raw downloads', 'error responses', 'busy']) {
      expect(answers[subject]?.['cache-control']).toContain('no-store');
      expect(answers[subject]).not.toHaveProperty('etag');
    }
  });
});
