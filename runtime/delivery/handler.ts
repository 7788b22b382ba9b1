/**
 * One delivery: gather, refuse in order, else answer from what is stored or from one render, and meter it.
 * Only GET, HEAD and OPTIONS are served. Spec: Delivery host.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isNotModified,
  preflightHeaders,
  printEtag,
  type ServedImage,
} from '../core/delivery/headers.ts';
import {
  chooseSource,
  ENCODER_EPOCH,
  printDerivedKey,
  printPlan,
  type RenderPlan,
} from '../core/delivery/plan.ts';
import { firstRefusal } from '../core/delivery/refusals.ts';
import type { DeliveryUrl } from '../core/delivery/url.ts';
import type { StoredType } from '../core/image/formats.ts';
import type { DeliveryFileRow } from '../db/delivery-lookups.ts';
import {
  answerBytes,
  answerFailure,
  answerNotModified,
  answerRefusal,
  answerStream,
} from './answer.ts';
import type { DeliveryDeps } from './deps.ts';
import { gather } from './gather.ts';
import type { KnownProject } from './lookup.ts';
import { hostOf } from './protocol.ts';

export type Exchange = { request: IncomingMessage; response: ServerResponse };

/** An image that is not refused: everything that its answer needs. */
type Served = Exchange & {
  url: DeliveryUrl;
  project: KnownProject;
  file: DeliveryFileRow;
  plan: RenderPlan | undefined;
};

/** Where the answer came from, for the metrics. */
export type Source = 'memory' | 'store' | 'render' | 'original' | 'not_modified' | 'none';

/** Answers in any case; resolves when the answer was handed to the connection. */
export async function handleDelivery(deps: DeliveryDeps, exchange: Exchange): Promise<Source> {
  const { request, response } = exchange;
  try {
    if (request.method === 'GET' || request.method === 'HEAD') return await deliver(deps, exchange);
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...preflightHeaders() }).end();
      return 'none';
    }
    response.setHeader('allow', 'GET, HEAD, OPTIONS');
    return answerRefusal(exchange, { status: 404, code: 'not_found' });
  } catch (error) {
    return answerFailure(deps, exchange, error);
  }
}

async function deliver(deps: DeliveryDeps, exchange: Exchange): Promise<Source> {
  const { request } = exchange;
  const gathered = await gather(deps, { host: hostOf(request), target: request.url ?? '' });
  const refusal = firstRefusal(gathered.facts);
  if (refusal !== null) return answerRefusal(exchange, refusal);
  const { url, project, file, plan } = gathered;
  if (url === undefined || project === undefined || file === undefined) {
    throw new Error('a delivery was neither refused nor found');
  }
  const served = { ...exchange, url, project, file, plan };
  return plan === undefined
    ? deliverOriginal(deps, served)
    : deliverDerived(deps, { ...served, plan });
}

async function deliverOriginal(deps: DeliveryDeps, served: Served): Promise<Source> {
  const image = describe(deps, served, {
    representation: 'originals',
    content_type: served.file.content_type,
  });
  const meter = meterOf(deps, served, { kind: 'originals', is_watermarked: false });
  if (isNotModified(served.request.headers['if-none-match'], image.etag)) {
    return answerNotModified(served, image, meter);
  }
  const { object_key, size_bytes } = served.file;
  const stream = served.request.method === 'HEAD' ? null : await deps.content.open(object_key);
  if (stream === undefined) throw new Error(`${object_key} is published and is not stored`);
  return answerStream(served, image, { stream, size_bytes, meter });
}

async function deliverDerived(
  deps: DeliveryDeps,
  served: Served & { plan: RenderPlan },
): Promise<Source> {
  const { plan } = served;
  const image = describe(deps, served, {
    representation: printPlan(plan),
    content_type: `image/${plan.format}`,
  });
  const meter = meterOf(deps, served, { kind: 'derived', is_watermarked: plan.watermark !== null });
  if (isNotModified(served.request.headers['if-none-match'], image.etag)) {
    return answerNotModified(served, image, meter);
  }
  const found = await deps.derived.find(renderRequest(served));
  switch (found.outcome) {
    case 'done':
      answerBytes(served, image, { bytes: found.bytes, meter });
      return found.source;
    case 'busy':
      return answerRefusal(served, { status: 503, code: 'busy' }, found.retry_after_seconds);
    case 'render_timeout':
      return answerRefusal(served, { status: 504, code: 'render_timeout' });
  }
}

function renderRequest({ project, file, plan }: Served & { plan: RenderPlan }) {
  const { project_id, generation } = project;
  const { file_id, revision } = file;
  const source = chooseSource(plan, file, file.mezzanines);
  return {
    project_id,
    derived_key: printDerivedKey({ project_id, generation, file_id, revision, plan }),
    source_key: source.object === 'original' ? file.object_key : source.object.object_key,
    window: source.window,
    plan,
  };
}

function describe(
  { clock }: DeliveryDeps,
  { url, project, file }: Served,
  of: { representation: string; content_type: StoredType },
): Extract<ServedImage, { etag: string }> {
  const { file_id, revision } = file;
  const exp = url.signature?.exp;
  return {
    kind: url.target.kind === 'originals' ? 'originals' : 'derived',
    content_type: of.content_type,
    project_id: project.project_id,
    file_id,
    revision,
    etag: printEtag({
      file_id,
      revision,
      representation: of.representation,
      encoder_epoch: ENCODER_EPOCH,
    }),
    access: exp === undefined ? 'public' : { seconds_left: exp - clock.now().getTime() / 1000 },
  };
}

/** Called with the number of body bytes, before the response ends. */
export type MeterDelivery = (bytes: number) => void;

function meterOf(
  { meter }: DeliveryDeps,
  { project }: Served,
  of: { kind: 'derived' | 'originals'; is_watermarked: boolean },
): MeterDelivery {
  return (bytes) => meter.record({ project_id: project.project_id, bytes, ...of });
}
