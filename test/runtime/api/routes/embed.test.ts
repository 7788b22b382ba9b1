// Spec: Library sessions and the picker. The page that one origin may frame: what it can access and what it loads.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createPickerAssets, pickerAssets } from '../../../../runtime/api/embed/picker-assets.ts';
import type { LibraryFileRecord } from '../../../../runtime/core/resources/library-session.ts';
import { signEmbedUrl } from '../../../../runtime/core/signing/embed-url.ts';
import type { PickedFile } from '../../../../runtime/sdk/picker-protocol.ts';
import { codeOf } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';

const api = useApi();
/** A compile-time check: the service's records have every field that the picker hands out. */
const missing: Exclude<keyof PickedFile, keyof LibraryFileRecord>[] = [];

const origin = 'https://shop.example';
const soon = () => Math.floor(Date.now() / 1000) + 60;

/** The path and query of an embed URL; `changed` is changed after it was signed. */
function embedUrl(
  signed: { project?: string; library?: string; o?: string; exp?: number } = {},
  changed: Record<string, string> = {},
): string {
  const { project = 'shop', library = 'press', o = origin, exp = soon() } = signed;
  const [key] = api.deps().libraryKeys.embeds;
  if (key === undefined) throw new Error('no key signs embed URLs');
  const s = signEmbedUrl({ key: key.key, project, library, o, exp });
  const query = new URLSearchParams({ o, exp: String(exp), kid: key.id, s, ...changed });
  return `/embed/${project}/${library}?${query}`;
}

const policyOf = (headers: Record<string, unknown>) => {
  const policy = String(headers['content-security-policy']);
  return Object.fromEntries(
    policy.split('; ').map((part) => [part.split(' ', 1)[0], part.split(' ').slice(1).join(' ')]),
  );
};

describe('the picker page', () => {
  it('hands out only fields that the service returns', () => {
    expect(missing).toEqual([]);
  });

  it('can be framed by one origin only, reaches only the service, and has no inline code', async () => {
    const { status, headers, text } = await api.send({ path: embedUrl() });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-frame-options']).toBeUndefined();
    expect(headers['cross-origin-opener-policy']).toBeUndefined();
    expect(policyOf(headers)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': 'https://shop.images.test',
      'connect-src': `'self' ${api.deps().addresses.uploadBaseUrl}`,
      'frame-ancestors': origin,
      'base-uri': "'none'",
      'form-action': "'none'",
    });
    expect(text).toContain(`data-project="shop" data-library="press" data-origin="${origin}"`);
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  it('is verified without the database', async () => {
    const db = new Proxy(api.db, {
      get: () => () => Promise.reject(new Error('the database was asked')),
    });
    api.change({ db });
    expect((await api.send({ path: embedUrl() })).status).toBe(200);
  });

  it.each([
    ['https://shop.example', 200],
    ['https://shop.example:8443', 200],
    ['http://localhost:3000', 200],
    ['http://127.0.0.1:3000', 200],
    ['http://shop.example', 400],
    ['https://shop.example/', 400],
    ['https://*.shop.example', 400],
    ['HTTPS://shop.example', 400],
    ["https://a.example; script-src 'unsafe-inline'", 400],
    ['null', 400],
    ['', 400],
  ])('answers the origin %j with %i, even if it is signed', async (o, status) => {
    const answer = await api.send({ path: embedUrl({ o }) });
    expect(codeOf(answer)).toBe(status === 200 ? '200' : '400 invalid_origin');
  });

  it.each([
    ['403 invalid_embed_url', { o: 'https://other.example' }],
    ['403 invalid_embed_url', { exp: '99999999999' }],
    ['403 invalid_embed_url', { kid: 'unknown' }],
    ['403 invalid_embed_url', { s: 'AAAA' }],
    ['400 invalid_origin', { o: 'javascript:alert(1)' }],
  ])('returns %s if %j was changed after signing, and cannot be framed', async (code, changed) => {
    const answer = await api.send({ path: embedUrl({}, changed) });
    expect(codeOf(answer)).toBe(code);
    expect(policyOf(answer.headers)['frame-ancestors']).toBe("'none'");
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
  });

  it('rejects a changed project or library, an expired URL and a missing signature', async () => {
    const url = embedUrl();
    const answers = [
      await api.send({ path: url.replace('/shop/', '/other/') }),
      await api.send({ path: url.replace('/press?', '/default?') }),
      await api.send({ path: embedUrl({ exp: soon() - 61 }) }),
      await api.send({ path: url.replace(/&s=.*/, '') }),
    ];
    expect(answers.map(codeOf)).toEqual([
      '403 invalid_embed_url',
      '403 invalid_embed_url',
      '403 embed_url_expired',
      '400 invalid_request',
    ]);
    for (const { headers } of answers) expect(policyOf(headers)['frame-ancestors']).toBe("'none'");
  });

  it('returns 404 not_found while library sessions are disabled', async () => {
    api.change({ settings: { librarySessions: 'disabled' } });
    for (const path of [embedUrl(), '/embed/shop/press', `${embedUrl()}&more=1`]) {
      const answer = await api.send({ path });
      expect(codeOf(answer)).toBe('404 not_found');
      expect(policyOf(answer.headers)['frame-ancestors']).toBe("'none'");
    }
  });
});

describe('the assets of the picker', () => {
  it.each([...pickerAssets.keys()])(
    '%s is cached for five minutes, and compressed on request',
    async (name) => {
      const { status, headers, text } = await api.send({ path: `/embed/_assets/${name}` });
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, max-age=300');
      expect(headers['content-type']).toBe(
        name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
      );
      expect(headers['vary']).toBe('accept-encoding');
      const packed = await api.send({
        path: `/embed/_assets/${name}`,
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(packed.bytes).toString()).toBe(text);
    },
  );

  it('are exactly the files of their folder, and less than 40 KB compressed', async () => {
    const files = await readdir(new URL('../../../../runtime/web/picker/', import.meta.url));
    expect([...pickerAssets.values()].sort()).toEqual(files.sort());
    const find = createPickerAssets();
    const pages = await Promise.all([...pickerAssets.keys()].map(find));
    const bytes = pages.reduce((sum, { gzip }) => sum + (gzip?.length ?? 0), 0);
    expect(bytes).toBeLessThan(40 * 1024);
  });

  it('import one another by the names under which they are served', async () => {
    for (const name of [...pickerAssets.keys()].filter((each) => each.endsWith('.js'))) {
      const { text } = await api.send({ path: `/embed/_assets/${name}` });
      const imported = [...text.matchAll(/from\s+'([^']+)'/g)].map(([, from = '']) => from);
      const known = [...pickerAssets.keys()].map((each) => `./${each}`);
      expect(imported.filter((from) => !known.includes(from))).toEqual([]);
    }
  });

  it.each(['none.js', 'picker.ts', '..%2Fpicker.css', 'tsconfig.json'])(
    'do not include %s',
    async (name) => {
      const answer = await api.send({ path: `/embed/_assets/${name}` });
      expect(codeOf(answer)).toBe('404 not_found');
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );

  it('return 503 embed_unavailable if a file is missing from the installation', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tintype-picker-'));
    api.change({ pickerAssets: createPickerAssets(pathToFileURL(`${folder}/`)) });
    const answer = await api.send({ path: '/embed/_assets/picker.js' });
    expect(codeOf(answer)).toBe('503 embed_unavailable');
    expect(answer.headers['cache-control']).toBe('no-store');
    await rm(folder, { recursive: true });
  });
});
