/**
 * Serves an image that is not refused: 304 without touching the image, the stored original, or a derived image from
 * memory, store or one render. Spec: Delivery host; Caching and response headers.
 */
import { isNotModified, printEtag, type ServedImage } from '../core/delivery/headers.ts';
import { ENCODER_EPOCH, printPlan } from '../core/delivery/plan.ts';
import { type PlannedRender, requestRender } from '../core/delivery/render-request.ts';
import type { DeliveryUrl } from '../core/delivery/url.ts';
import type { StoredType } from '../core/image/formats.ts';
import { abortIfChanged } from './abort-if-changed.ts';
import {
  answerBytes,
  answerNotModified,
  answerRangeNotSatisfiable,
  answerRefusal,
  answerStream,
  markClientClosed,
  resolveBodyRange,
} from './answer.ts';
import type { DeliveryDeps } from './deps.ts';
import type { DeliveryResult, Exchange, MeterDelivery } from './exchange.ts';
import { cacheSecondsMax, databaseTime, type KnownFile, type KnownProject } from './lookup.ts';
import type { Originals } from './originals.ts';

export type ServingDeps = Pick<DeliveryDeps, 'derived' | 'lookup' | 'meter' | 'clock'> & {
  originals: Originals;
};

export type ServedRequest = Exchange & { url: DeliveryUrl; project: KnownProject; file: KnownFile };

export async function serveOriginal(
  deps: ServingDeps,
  served: ServedRequest,
): Promise<DeliveryResult> {
  const { file, request } = served;
  const image = describe(served, {
    kind: 'originals',
    representation: 'originals',
    content_type: file.content_type,
  });
  const meter = meterOf(deps, served, { kind: 'originals', is_watermarked: false });
  if (isNotModified(request.headers['if-none-match'], image.etag)) {
    return answerNotModified(served, dated(deps, served, image), meter);
  }
  const { object_key, size_bytes } = file;
  const portion = resolveBodyRange(served, { size_bytes, etag: image.etag });
  if (portion === 'beyond') return answerRangeNotSatisfiable(served, size_bytes);
  const isHead = request.method === 'HEAD';
  if (isHead) await deps.originals.check(object_key);
  const stream = isHead ? null : await deps.originals.open(object_key, portion);
  const of = { stream, size_bytes, portion, meter };
  const begin = () => {
    abortIfChanged(deps, served, size_bytes);
    return dated(deps, served, image);
  };
  return answerStream(served, begin, of);
}

export async function serveDerived(
  deps: ServingDeps,
  served: ServedRequest & { planned: PlannedRender },
): Promise<DeliveryResult> {
  const { file, planned, request } = served;
  const { plan } = planned;
  const image = describe(served, {
    kind: 'derived',
    representation: printPlan(plan),
    content_type: `image/${plan.format}`,
  });
  const meter = meterOf(deps, served, { kind: 'derived', is_watermarked: plan.watermark !== null });
  if (isNotModified(request.headers['if-none-match'], image.etag)) {
    return answerNotModified(served, dated(deps, served, image), meter);
  }
  const found = await deps.derived.find(
    requestRender(served.project, file, planned),
    viewerGone(served),
  );
  switch (found.outcome) {
    case 'done':
      abortIfChanged(deps, served, found.bytes.length);
      return answerBytes(served, dated(deps, served, image), { ...found, meter });
    case 'busy':
      return answerRefusal(served, 'busy', found.retry_after_seconds);
    case 'render_timeout':
      return answerRefusal(served, 'render_timeout');
    case 'gone':
      return markClientClosed(served);
  }
}

function viewerGone({ response }: Exchange): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the viewer left'));
  });
  return gone.signal;
}

type Cacheable = Extract<ServedImage, { etag: string }>;
type Described = Omit<Cacheable, 'access' | 'kept_seconds_max'>;

function describe(
  { project, file }: ServedRequest,
  of: { kind: 'derived' | 'originals'; representation: string; content_type: StoredType },
): Described {
  const { kind, representation, content_type } = of;
  const { file_id, revision, object_key } = file;
  return {
    kind,
    content_type,
    project_id: project.project_id,
    file_id,
    revision,
    etag: printEtag({ file_id, object_key, representation, encoder_epoch: ENCODER_EPOCH }),
  };
}

/**
 * Sets how long caches may keep the image from now on. Called when the answer is written, because
 * the wait for the image took time.
 */
function dated(
  { clock }: ServingDeps,
  { url, project, file }: ServedRequest,
  image: Described,
): Cacheable {
  const exp = url.signature?.exp;
  const now = databaseTime(clock, project);
  return {
    ...image,
    access: exp === undefined ? 'public' : { seconds_left: exp - now / 1000 },
    kept_seconds_max: cacheSecondsMax(clock, project, file),
  };
}

export function meterOf(
  { meter, clock }: Pick<ServingDeps, 'meter' | 'clock'>,
  { project }: Pick<ServedRequest, 'project'>,
  of: { kind: 'derived' | 'originals' | 'raw'; is_watermarked: boolean },
): MeterDelivery {
  const { project_id } = project;
  return (bytes) => meter.record({ at: databaseTime(clock, project), project_id, bytes, ...of });
}
