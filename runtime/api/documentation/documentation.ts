/**
 * The API's own documentation: the OpenAPI document at /openapi.json; the page at /docs that displays it and can call
 * the API, to which a browser on / is redirected; and a page for every error code at /docs/errors.
 * Everything is served from this process; no script, font or image comes from a third party.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Request, type Response, Router } from 'express';
import { cachedPages } from '../cached-pages.ts';
import { codedBytes, compressedPage } from '../page.ts';
import { READING_POLICY } from '../reading-policy.ts';
import { printErrorIndex, printErrorPage } from './error-pages.ts';

const PAGE = import.meta.dirname;
const SWAGGER_UI = createRequire(import.meta.url)(
  'swagger-ui-dist/absolute-path.js',
) as () => string;

/** All assets of /docs, by name. */
const assets = new Map(
  [
    `${SWAGGER_UI()}/swagger-ui.css`,
    `${SWAGGER_UI()}/swagger-ui-bundle.js`,
    `${PAGE}/page.css`,
    `${PAGE}/page.js`,
    `${PAGE}/errors.css`,
  ].map((file) => [basename(file), file]),
);
const DOCUMENT = fileURLToPath(new URL('../openapi.json', import.meta.url));

export function documentation(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/openapi.json', async (request, response) => {
    // Clients on other origins read it, and it holds no private data.
    await sendFile(DOCUMENT, request, response.set('access-control-allow-origin', '*'));
  });
  router.get('/', (_request, response) => keep(response).redirect('/docs'));
  router.get(['/docs', '/docs/'], (_request, response) => {
    keep(response).set('content-security-policy', POLICY).sendFile('page.html', { root: PAGE });
  });
  router.get('/docs/assets/:name', sendAsset);
  router.get('/docs/errors', (_request, response) => sendReading(response, printErrorIndex()));
  router.get('/docs/errors/:code', sendErrorPage);
  return router;
}

// Swagger UI sets inline styles while it runs; scripts come from this origin alone.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const sendAsset: express.RequestHandler<{ name: string }> = async (request, response, next) => {
  const file = assets.get(request.params.name);
  if (file === undefined) next();
  else await sendFile(file, request, response);
};

const pageOf = cachedPages(async (file: string) =>
  compressedPage({ headers: {}, bytes: await readFile(file) }),
);

async function sendFile(file: string, request: Request, response: Response): Promise<void> {
  const page = await pageOf(file);
  keep(response)
    .type(extname(file))
    .send(codedBytes(page, request, response));
}

const sendErrorPage: express.RequestHandler<{ code: string }> = (request, response, next) => {
  const page = printErrorPage(request.params.code);
  if (page === undefined) next();
  else sendReading(response, page);
};

function sendReading(response: Response, html: string): void {
  keep(response).set('content-security-policy', READING_POLICY).type('html').send(html);
}

/** Pages change with a release, so browsers keep them only briefly. */
function keep(response: Response): Response {
  return response.set({ 'cache-control': 'public, max-age=300', 'referrer-policy': 'no-referrer' });
}
