/**
 * Sending a large body to a cache may take longer than the second purge of a change waits. The cache would then keep
 * the outdated image for as long as its head allows. So the sender repeats its lookups as often as a new request would,
 * and breaks the response off once the image is no longer served: no cache keeps an incomplete body. Spec: Caching and
 * response headers.
 */
import { LOOKUP_CACHE_SECONDS_MAX } from '../core/limits.ts';
import { steady } from '../platform/clock.ts';
import type { DeliveryDeps } from './deps.ts';
import type { Exchange } from './exchange.ts';
import { hostOf } from './protocol.ts';
import type { ServedRequest } from './serve-image.ts';

type WatchDeps = Pick<DeliveryDeps, 'lookup' | 'clock'>;
type Known = Pick<ServedRequest, 'project' | 'file'>;

/** A cache has received a smaller body completely before the second purge. */
const LARGE_BYTES_MIN = 1_000_000;
const LOOK_MS = 1000;

/** Call when the head is written. While the database does not answer, the body goes on. */
export function abortIfChanged(deps: WatchDeps, served: ServedRequest, sizeBytes: number): void {
  const { response } = served;
  if (sizeBytes < LARGE_BYTES_MIN || response.destroyed) return;
  let newest: Known = served;
  const look = async () => {
    if (isFresh(deps, newest)) return;
    const now = await findAgain(deps, served);
    if (now !== undefined && isSame(served, now)) newest = now;
    else response.destroy();
  };
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  response.once('close', () => clearInterval(timer));
}

function isFresh({ clock }: WatchDeps, { project, file }: Known): boolean {
  const age_ms = steady(clock).now().getTime() - Math.min(project.asked_at, file.asked_at);
  return age_ms < LOOKUP_CACHE_SECONDS_MAX * 1000;
}

async function findAgain(
  { lookup }: WatchDeps,
  { request, url }: Pick<Exchange, 'request'> & Pick<ServedRequest, 'url'>,
): Promise<Known | undefined> {
  const project = await lookup.findProject(hostOf(request));
  const file = project && (await lookup.findFile(project.project_id, url.target.file_slug));
  return file && { project, file };
}

/**
 * Compares what the bytes depend on and who may have them: the project's state and access, and its
 * images.
 */
function isSame({ url, project, file }: ServedRequest, now: Known): boolean {
  return (
    now.file.status === 'ready' &&
    now.file.object_key === file.object_key &&
    now.project.project_id === project.project_id &&
    now.project.status === 'active' &&
    now.project.delivery_access === project.delivery_access &&
    (url.target.kind === 'originals' || now.project.generation === project.generation)
  );
}
