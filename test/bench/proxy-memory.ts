/**
 * The memory that large uploads through the service take, on folders and on a real S3 server: it should not grow,
 * because bodies are streamed. Also what is left of uploads whose client disconnects midway, which should be nothing.
 */
import { readFileSync } from 'node:fs';
import { withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { type Figure, figure } from './figure.ts';
import { abandonLarge, BODY_BYTES, putLarge } from './large-puts.ts';
import { type ProxyPlace, startProxyPlace } from './proxy-places.ts';

const AT_ONCE = 4;
const WATCH_MS = 20;
/** Time for the service to notice the disconnect, and for the storage to abort the transfer. */
const SETTLED_MS = 3000;
const SHARES = [0.02, 0.5, 0.98];

export async function measureProxyMemory(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of ['folder', 'S3'] as const) {
    const place = await startProxyPlace(kind);
    try {
      figures.push(...(await measurePlace(place)));
    } finally {
      await place.end();
    }
  }
  return figures;
}

async function measurePlace({ kind, tintype, look }: ProxyPlace): Promise<Figure[]> {
  const { pid } = tintype.instance;
  const put = async () => putLarge(await createSession(tintype));
  await put();
  const rest = residentBytes(pid);
  const one = await peakOf(pid, put);
  const several = await peakOf(pid, () => Promise.all(Array.from({ length: AT_ONCE }, put)));
  const before = await look();
  for (const share of SHARES) await abandonLarge(await createSession(tintype), share);
  await sleep(SETTLED_MS);
  const after = await look();
  const mb = (bytes: number) => [(bytes - rest) / 1e6];
  const size = `${BODY_BYTES / 1e6} MB`;
  return [
    figure(`${kind}: one proxy PUT of ${size}: service memory over rest`, 'MB', mb(one)),
    figure(`${kind}: ${AT_ONCE} such at once: service memory over rest`, 'MB', mb(several)),
    figure(`${kind}: ${SHARES.length} clients gone in the middle: whole objects left`, '', [
      after.whole - before.whole,
    ]),
    figure(`${kind}: … parts of multipart uploads left`, '', [after.multiparts]),
    figure(`${kind}: … short objects that the storage kept`, '', [after.short - before.short]),
    figure(`${kind}: … service memory over rest then`, 'MB', mb(residentBytes(pid))),
  ];
}

/** Creates a session and returns its signed URL. */
async function createSession(tintype: Tintype): Promise<string> {
  const { project_slug, api_key } = tintype.instance;
  const path = `/v1/projects/${project_slug}/uploads`;
  const input = { content_type: 'image/png', size_bytes: BODY_BYTES, mode: 'proxy' };
  const { status, body } = await withKey(tintype, api_key)('POST', path, input);
  if (status !== 201) throw new Error(`no session: ${JSON.stringify(body)}`);
  return body.proxy.put_url;
}

async function peakOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  let peak = residentBytes(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid));
  }, WATCH_MS);
  await work();
  clearInterval(timer);
  return peak;
}

function residentBytes(pid: number): number {
  const [, kibibytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
