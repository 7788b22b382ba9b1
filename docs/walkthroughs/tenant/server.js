// The site of Kite: hands out its page, lets the page upload, shows signed images, receives webhooks.
// Its folder holds key.txt, an API key of the project, and secret.txt, the secret of its webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const [api, folder, port] = process.argv.slice(2);
const key = (await readFile(join(folder, 'key.txt'), 'utf8')).trim();
const page = await readFile(new URL('page.html', import.meta.url));

const ask = (path, { method = 'POST', body, headers } = {}) =>
  fetch(`${api}/v1/projects/kite${path}`, {
    method,
    body,
    headers: { ...headers, 'X-Api-Key': key },
  });

/** Signed URLs by what they show, each with the time until which it is handed out: half of its life. */
const minted = new Map();
const LIFE_SECONDS = 3600;

/** Viewers who come while a URL is being minted wait for the same one. */
function signedUrl(file_slug, transform_chain) {
  const name = `${transform_chain} ${file_slug}`;
  const known = minted.get(name);
  if (known?.until > Date.now()) return known.url;
  const url = mint({ file_slug, transform_chain, expires_in_seconds: LIFE_SECONDS });
  minted.set(name, { url, until: Date.now() + LIFE_SECONDS * 500 });
  // A failure is not kept: the next viewer tries again.
  url.catch(() => minted.delete(name));
  return url;
}

async function mint(wish) {
  const signed = await ask('/signed-url', { body: JSON.stringify(wish) });
  if (!signed.ok) throw new Error(`no signed URL: ${await signed.text()}`);
  return (await signed.json()).url;
}

async function isGenuine(body, header = '') {
  const [t, ...macs] = header.split(',').map((item) => item.split('=')[1] ?? '');
  const secret = await readFile(join(folder, 'secret.txt'));
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  const fits = (mac) =>
    mac.length === 64 && timingSafeEqual(Buffer.from(mac), Buffer.from(expected));
  return Math.abs(Date.now() / 1000 - Number(t)) <= 300 && macs.some(fits);
}

const UPLOADS = /^\/uploads(\/upl_\w+(\/(parts|complete))?)?$/;

async function answer({ method, url, headers }, body) {
  if (url === '/') return { status: 200, type: 'text/html; charset=utf-8', body: page };
  if (url === '/image') return { status: 302, location: await signedUrl('scan', 'resize/640x') };
  if (url === '/hook') {
    if (await isGenuine(body, headers['x-service-signature'])) return { status: 204 };
    return { status: 400, body: 'the signature does not fit' };
  }
  // A real site asks here who is signed in, and what they may send.
  if (!UPLOADS.test(url)) return { status: 404 };
  const once = headers['idempotency-key'];
  const asked = await ask(url, {
    method,
    ...(method === 'POST' && { body }),
    ...(once && { headers: { 'Idempotency-Key': once } }),
  });
  return { status: asked.status, type: 'application/json', body: await asked.text() };
}

createServer(async (request, response) => {
  try {
    const { status, type, location, body } = await answer(request, await buffer(request));
    if (type !== undefined) response.setHeader('content-type', type);
    if (location !== undefined) response.setHeader('location', location);
    response.writeHead(status).end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(502).end();
  }
}).listen(Number(port), () => console.log(`http://localhost:${port}`));
