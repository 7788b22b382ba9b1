// Spec: Errors. The pages about error codes that the API serves: one for each code, without scripts.
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentation } from '../../../runtime/api/documentation/documentation.ts';
import { errorPages } from '../../../runtime/core/error-help/error-pages.ts';
import { apiErrors } from '../../../runtime/core/errors.ts';

let server: Server;
let base = '';
beforeAll(async () => {
  server = createServer(express().use(documentation()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const read = async (path: string) => {
  const answer = await fetch(`${base}${path}`);
  return { answer, text: await answer.text() };
};

it.each(['/docs', '/docs/errors', '/docs/errors/not_found'])(
  '%s forbids base URLs, form submission and framing in its CSP, and sends no referrer',
  async (path) => {
    const { headers } = (await read(path)).answer;
    const policy = headers.get('content-security-policy')?.split('; ');
    for (const each of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
      expect(policy).toContain(`${each} 'none'`);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  },
);

it.each(['/', '/?next=https://evil.example'])(
  '%s redirects to /docs on the same host',
  async (path) => {
    const { status, headers } = await fetch(`${base}${path}`, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
  },
);

describe('/docs/errors', () => {
  it('has a page for every error code, with the cause and what to do for each of its meanings', async () => {
    for (const [code, entries] of errorPages) {
      const { answer, text } = await read(`/docs/errors/${code}`);
      expect(answer.status, code).toBe(200);
      expect(text).toContain(`<h1><code>${code}</code></h1>`);
      for (const heading of ['Cause', 'What to do'])
        expect(text.split(`<h3>${heading}</h3>`), code).toHaveLength(entries.length + 1);
    }
  });

  it('links to the page of every code', async () => {
    const { text } = await read('/docs/errors');
    const linked = [...text.matchAll(/href="\/docs\/errors\/([a-z0-9_]+)"/g)].map(
      ([, code]) => code,
    );
    expect(new Set(linked)).toEqual(new Set(errorPages.keys()));
  });

  it('describes a code that has two statuses on a single page', async () => {
    const { text } = await read('/docs/errors/invalid_signature');
    expect(text).toContain('The management API: 401 Unauthorized');
    expect(text).toContain('Delivery hosts: 403 Forbidden');
  });

  it('runs no scripts, loads only its stylesheet, and is cached as long as /docs', async () => {
    const [page, docs, style] = await Promise.all([
      read('/docs/errors/not_found'),
      read('/docs'),
      read('/docs/assets/errors.css'),
    ]);
    const policy = page.answer.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ').slice(0, 2)).toEqual(["default-src 'none'", "style-src 'self'"]);
    expect(page.text).not.toMatch(/<script|style="|\son[a-z]+="/);
    const kept = docs.answer.headers.get('cache-control');
    expect(page.answer.headers.get('cache-control')).toBe(kept);
    expect(style.answer.headers.get('content-type')).toContain('text/css');
  });

  it.each([
    'nothing_of_ours',
    'constructor',
    '__proto__',
    'NOT_FOUND',
    '%3Cscript%3E',
    'not_found/',
  ])('has no page for %s', async (code) => {
    expect((await read(`/docs/errors/${code}`)).answer.status).toBe(404);
  });

  it('shows an example with the details fields of the code', async () => {
    const { text } = await read('/docs/errors/ingest_size_mismatch');
    for (const key of apiErrors.ingest_size_mismatch.details)
      expect(text).toContain(`&quot;${key}&quot;`);
  });
});

describe('the resources that /docs loads', () => {
  it.each(['/openapi.json', '/docs/assets/swagger-ui-bundle.js', '/docs/assets/page.css'])(
    '%s is compressed with gzip only for clients that accept it, with the same content',
    async (path) => {
      const whole = await ask(path, 'identity');
      const small = await ask(path, 'gzip, br');
      expect(whole.headers['content-encoding']).toBeUndefined();
      expect(small.headers['content-encoding']).toBe('gzip');
      expect([whole.headers.vary, small.headers.vary]).toEqual(
        Array(2).fill(expect.stringMatching(/accept-encoding/i)),
      );
      expect(small.headers['content-type']).toBe(whole.headers['content-type']);
      expect(small.headers.etag).not.toBe(whole.headers.etag);
      expect(gunzipSync(small.body).equals(whole.body)).toBe(true);
      expect(small.body.length).toBeLessThan(whole.body.length / 1.5);
    },
  );
});

/** Sends a request and returns the body as sent, without decompression. */
async function ask(path: string, accepted: string) {
  const answered = Promise.withResolvers<IncomingMessage>();
  request(`${base}${path}`, { headers: { 'accept-encoding': accepted } }, answered.resolve).end();
  const answer = await answered.promise;
  return { headers: answer.headers, body: await buffer(answer) };
}
