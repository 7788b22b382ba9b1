/**
 * Gathers what the ordered refusals check: URL, project, file, signature, chain and its plan. Decides nothing. Spec:
 * Delivery refusals in checking order.
 */
import { isAllowedChain, readChain } from '../core/delivery/chain.ts';
import type { ParsedChain } from '../core/delivery/operations.ts';
import { planRender } from '../core/delivery/plan.ts';
import type { RefusalFacts, SignatureVerdict } from '../core/delivery/refusals.ts';
import type { PlannedRender } from '../core/delivery/render-request.ts';
import { type DeliveryUrl, parseDeliveryUrl } from '../core/delivery/url.ts';
import { chooseWatermark } from '../core/delivery/watermark.ts';
import { verifyDeliveryUrl } from '../core/signing/delivery-url.ts';
import type { Clock } from '../platform/clock.ts';
import { databaseTime, type KnownFile, type KnownProject, type Lookup } from './lookup.ts';

export type GatheredFacts = {
  facts: RefusalFacts;
  url: DeliveryUrl | undefined;
  project: KnownProject | undefined;
  file: KnownFile | undefined;
  /** Set for a derived URL whose chain can be rendered. */
  planned: PlannedRender | undefined;
};

type Deps = { lookup: Lookup; clock: Clock };

export async function gather(
  deps: Deps,
  request: { host: string; target: string },
): Promise<GatheredFacts> {
  const url = parseDeliveryUrl(request.target);
  const project = url && (await deps.lookup.findProject(request.host));
  const file =
    url && project && (await deps.lookup.findFile(project.project_id, url.target.file_slug));
  const signature =
    url && project ? await judgeSignature(deps, { host: request.host, url, project }) : 'none';
  const chain = url && project && readChainOf(url, project);
  const planned = chain && project && file && planFor(chain, project, file);
  const facts = {
    url,
    project,
    file,
    signature,
    chain: chainFacts({ url, project, file, chain, planned }),
  };
  return { facts, url, project, file, planned };
}

async function judgeSignature(
  { lookup, clock }: Deps,
  { host, url, project }: { host: string; url: DeliveryUrl; project: KnownProject },
): Promise<SignatureVerdict> {
  if (url.signature === null) return 'none';
  const secret = await lookup.findSecret(host, url.signature.kid);
  if (secret === undefined) return 'unknown_kid';
  return verifyDeliveryUrl({
    ...url.signature,
    secret,
    project_id: project.project_id,
    path: url.path,
    now_seconds: databaseTime(clock, project) / 1000,
  });
}

function readChainOf({ target }: DeliveryUrl, project: KnownProject): ParsedChain | undefined {
  return target.kind === 'derived'
    ? readChain(target.chain_text, project.resolution_presets)
    : undefined;
}

function planFor(
  chain: ParsedChain,
  project: KnownProject,
  source: KnownFile,
): PlannedRender | undefined {
  const watermark = chooseWatermark(chain, project);
  const plan = planRender({ source, chain, watermark });
  return plan && { plan, watermark };
}

function chainFacts(of: {
  url: DeliveryUrl | undefined;
  project: KnownProject | undefined;
  file: KnownFile | undefined;
  chain: ParsedChain | undefined;
  planned: PlannedRender | undefined;
}): RefusalFacts['chain'] {
  if (of.url?.target.kind !== 'derived' || of.project === undefined) return undefined;
  return {
    is_known: of.chain !== undefined,
    is_allowed: isAllowedChain(of.chain, of.project.allowed_chains),
    is_renderable: of.planned !== undefined || of.chain === undefined || of.file === undefined,
  };
}
