// Why a delivery is refused, in checking order. Spec: Delivery host, Delivery refusals in checking order. Twelve rows,
// each a small function of facts gathered before; the first one that returns a code decides. Refused requests are never
// billed.
import type { DeliveryErrorCode } from '../errors.ts';
import { findFormat } from '../image/formats.ts';
import type { DeliveryUrl } from './url.ts';

/** The result of checking the URL's signature; `none` when the URL carries none. */
export type SignatureVerdict =
  | 'none'
  | 'valid'
  | 'invalid_signature'
  | 'signature_expired'
  | 'unknown_kid';

/**
 * The chain of a derived URL. `is_known`: it parses and its preset exists. `is_allowed`: it is in
 * the project's list, or there is no list (`isAllowedChain`). `is_renderable`: the output rules
 * give it a plan; true when nothing was planned.
 */
export type ChainFacts = {
  readonly is_known: boolean;
  readonly is_allowed: boolean;
  readonly is_renderable: boolean;
};

/**
 * Facts about one request. A fact that could not be determined is undefined; an earlier row then
 * refuses.
 */
export type RefusalFacts = {
  /** Undefined: malformed path or unexpected query. */
  readonly url: DeliveryUrl | undefined;
  /** Undefined: no project has this host. */
  readonly project: DeliveryProject | undefined;
  /** Undefined: no such file. `content_type` is the stored one. */
  readonly file: { readonly status: FileStatus; readonly content_type: string } | undefined;
  readonly signature: SignatureVerdict;
  /** Undefined: not a derived URL. */
  readonly chain: ChainFacts | undefined;
  /** The result of the render; undefined when none was needed, or none was tried yet. */
  readonly render?: 'done' | 'busy' | 'render_timeout' | undefined;
};

/**
 * What delivery needs to know about a project. `is_over_quota` is the state of its organization.
 */
export type DeliveryProject = {
  readonly status: 'active' | 'suspended';
  readonly is_over_quota: boolean;
  readonly delivery_access: 'public' | 'protected';
  readonly raw_download_enabled: boolean;
};

type FileStatus = 'ready' | 'blocked' | 'deleted';

/** The refusal to answer with: the envelope's code and its status. */
export type DeliveryRefusal = { readonly status: number; readonly code: DeliveryErrorCode };

/** One row of the table; `refuse` returns the code that applies, or null. */
export type RefusalRow = {
  readonly status: number;
  readonly codes: readonly DeliveryErrorCode[];
  refuse(facts: RefusalFacts): DeliveryErrorCode | null;
};

/** The twelve rows, in checking order. */
export const refusals: readonly RefusalRow[] = [
  { status: 404, codes: ['not_found'], refuse: addressUnknown },
  { status: 403, codes: ['project_suspended'], refuse: projectSuspended },
  { status: 403, codes: ['quota_exceeded'], refuse: quotaExceeded },
  { status: 404, codes: ['not_found'], refuse: fileMissing },
  { status: 403, codes: ['file_blocked'], refuse: fileBlocked },
  {
    status: 403,
    codes: ['invalid_signature', 'signature_expired', 'unknown_kid'],
    refuse: signatureWrong,
  },
  { status: 403, codes: ['signature_required'], refuse: signatureMissing },
  { status: 403, codes: ['transform_chain_not_allowed'], refuse: chainNotAllowed },
  { status: 404, codes: ['not_found'], refuse: rawDisabledOrChainUnknown },
  { status: 415, codes: ['raw_unavailable'], refuse: rawUnavailable },
  { status: 503, codes: ['busy'], refuse: renderingSaturated },
  { status: 504, codes: ['render_timeout'], refuse: renderTimedOut },
];

/** The first refusal that applies, or null: the image is served. */
export function firstRefusal(facts: RefusalFacts): DeliveryRefusal | null {
  for (const { status, refuse } of refusals) {
    const code = refuse(facts);
    if (code !== null) return { status, code };
  }
  return null;
}

function addressUnknown({ url, project }: RefusalFacts) {
  return url === undefined || project === undefined ? 'not_found' : null;
}

function projectSuspended({ project }: RefusalFacts) {
  return project?.status === 'suspended' ? 'project_suspended' : null;
}

function quotaExceeded({ project }: RefusalFacts) {
  return project?.is_over_quota ? 'quota_exceeded' : null;
}

function fileMissing({ file }: RefusalFacts) {
  return file === undefined || file.status === 'deleted' ? 'not_found' : null;
}

function fileBlocked({ file }: RefusalFacts) {
  return file?.status === 'blocked' ? 'file_blocked' : null;
}

function signatureWrong({ signature }: RefusalFacts) {
  return signature === 'none' || signature === 'valid' ? null : signature;
}

function signatureMissing({ project, signature }: RefusalFacts) {
  const isProtected = project?.delivery_access === 'protected';
  return isProtected && signature === 'none' ? 'signature_required' : null;
}

// Output rule 9 concerns only unsigned derived URLs; a protected project has already refused them.
function chainNotAllowed({ signature, chain }: RefusalFacts) {
  const isOutside = signature === 'none' && chain?.is_allowed === false;
  return isOutside ? 'transform_chain_not_allowed' : null;
}

// A chain that the output rules forbid (3 and 4, a crop outside the image) gets the same code.
function rawDisabledOrChainUnknown({ url, project, chain }: RefusalFacts) {
  if (url?.target.kind === 'raw' && !project?.raw_download_enabled) return 'not_found';
  return chain && !(chain.is_known && chain.is_renderable) ? 'not_found' : null;
}

function rawUnavailable({ url, file }: RefusalFacts) {
  const isPossible = findFormat(file?.content_type ?? '')?.takes_metadata ?? false;
  return url?.target.kind === 'raw' && !isPossible ? 'raw_unavailable' : null;
}

function renderingSaturated({ render }: RefusalFacts) {
  return render === 'busy' ? 'busy' : null;
}

function renderTimedOut({ render }: RefusalFacts) {
  return render === 'render_timeout' ? 'render_timeout' : null;
}
