/** What large uploads through the service cost it in memory: they are streamed, so it should be nothing. */
import { readFileSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withKey } from '../contract/support/client.ts';
import { removeFolder, startTintype, type Tintype } from '../contract/support/tintype.ts';
import { type Figure, figure } from './figure.ts';

const BODY_BYTES = 250_000_000;
const PIECE = Buffer.alloc(1_000_000, 7);
const AT_ONCE = 4;
const WATCH_MS = 20;

export async function measureProxyMemory(): Promise<Figure[]> {
  const limit = String(2 * BODY_BYTES);
  const env = {
    TINTYPE_PROXY_MAX_BYTES: limit,
    TINTYPE_INGEST_MAX_BYTES: limit,
    TINTYPE_INGEST_SLOTS: '0',
  };
  const tintype = await startTintype({ env });
  try {
    await measurePuts(tintype, 1);
    return [
      figure('one proxy PUT of 250 MB: memory of the service over rest', 'MB', [
        await measurePuts(tintype, 1),
      ]),
      figure(`${AT_ONCE} such at once: memory of the service over rest`, 'MB', [
        await measurePuts(tintype, AT_ONCE),
      ]),
    ];
  } finally {
    await tintype.end('SIGTERM');
    await removeFolder(tintype.data);
  }
}

async function measurePuts(tintype: Tintype, count: number): Promise<number> {
  const rest = residentBytes(tintype.instance.pid);
  let peak = rest;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(tintype.instance.pid));
  }, WATCH_MS);
  await Promise.all(Array.from({ length: count }, () => putLarge(tintype)));
  clearInterval(timer);
  return (peak - rest) / 1e6;
}

async function putLarge(tintype: Tintype): Promise<void> {
  const { project_slug, api_key } = tintype.instance;
  const path = `/v1/projects/${project_slug}/uploads`;
  const wish = { content_type: 'image/png', size_bytes: BODY_BYTES, mode: 'proxy' };
  const { body } = await withKey(tintype, api_key)('POST', path, wish);
  const headers = { 'content-type': 'image/png', 'content-length': BODY_BYTES };
  const request = sendRequest(body.proxy.put_url, { method: 'PUT', headers });
  const answered = new Promise<number>((resolve, reject) => {
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
  });
  await pipeline(Readable.from(pieces()), request);
  const status = await answered;
  if (status !== 204) throw new Error(`the proxy answered ${status}`);
}

function* pieces(): Generator<Buffer> {
  for (let sent = 0; sent < BODY_BYTES; sent += PIECE.length) yield PIECE;
}

function residentBytes(pid: number): number {
  const [, kibibytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
