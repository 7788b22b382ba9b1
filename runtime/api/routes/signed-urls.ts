/** Spec: Endpoints, Signing keys and signed URLs. */
import { isAllowedChain, readAllowedChains, readChain } from '../../core/delivery/chain.ts';
import { printDeliveryPath, printDeliveryUrl } from '../../core/delivery/url.ts';
import { ServiceError } from '../../core/errors.ts';
import { wrongInput } from '../../core/input-issue.ts';
import { SIGNED_URL_MINTS_PER_MINUTE_MAX } from '../../core/limits.ts';
import { rateLimited, rateWindowSeconds } from '../../core/rates.ts';
import {
  type MintSignedUrl,
  type SignedUrlRecord,
  signedUrlBody,
} from '../../core/resources/signing-key.ts';
import { signDeliveryUrl } from '../../core/signing/delivery-url.ts';
import type { NewAuditEntry } from '../../db/audit-log.ts';
import type { ProjectRow } from '../../db/projects.ts';
import { findMintFacts, insertMint } from '../../db/signed-urls.ts';
import { openSecret } from '../../platform/open-secret.ts';
import { signingKeyContext } from '../../platform/sealing-contexts.ts';
import { auditActor } from '../audit-actor.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint } from '../endpoint.ts';
import { deliveryOrigin } from '../present/delivery-origin.ts';

export const mintSignedUrl = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/signed-url',
  auth: ['dash', 'key:urls:sign'],
  ok: 200,
  errors: [
    'transform_chain_not_allowed',
    'project_suspended',
    'raw_download_disabled',
    'file_not_found',
    'file_not_ready',
    'signing_key_missing',
    'rate_limited',
  ],
  body: signedUrlBody,
  effect: 'once',
  handle: async ({ deps, principal, project, body, request_id }) => {
    const key = await findKey(deps, project, body);
    const signed = sign(deps, { project, key, input: body });
    const { kind, transform_chain, file_slug: target } = body;
    await countMint(deps, project, {
      ...auditActor({ principal, request_id }),
      project_id: project.project_id,
      action: 'signed_url.mint',
      target,
      after: { kind, transform_chain, expires_at: signed.expires_at },
    });
    return signed;
  },
});

type Key = { kid: string; secret_sealed: Buffer; now_seconds: number };

/** The key that signs. Throws if the mint must be refused. */
async function findKey({ db }: ApiDeps, project: ProjectRow, input: MintSignedUrl): Promise<Key> {
  if (project.status !== 'active') throw new ServiceError('project_suspended');
  refuseChain(project, input);
  if (input.kind === 'raw' && !project.raw_download_enabled)
    throw new ServiceError('raw_download_disabled');
  const { project_id } = project;
  const facts = await findMintFacts(db, { project_id, file_slug: input.file_slug });
  const { file_status, kid, secret_sealed, now_seconds } = facts;
  if (file_status === null) throw new ServiceError('file_not_found');
  if (file_status !== 'ready') throw new ServiceError('file_not_ready');
  if (kid === null || secret_sealed === null) throw new ServiceError('signing_key_missing');
  return { kid, secret_sealed, now_seconds };
}

/** Counted last, so that a request refused for another reason does not count. */
async function countMint(
  { db, metrics }: ApiDeps,
  { project_id }: ProjectRow,
  entry: NewAuditEntry,
): Promise<void> {
  const limit = SIGNED_URL_MINTS_PER_MINUTE_MAX;
  const rate = 'signed-url';
  const window_seconds = rateWindowSeconds(rate);
  const request = { scope: rate, subject: project_id, limit, window_seconds };
  const { is_allowed, retry_after_seconds } = await insertMint(db, { rate: request, entry });
  if (is_allowed) return;
  metrics.rateRefused(rate);
  throw rateLimited({ rate, limit, retry_after_seconds });
}

/** The list of allowed chains binds mints in a public project; a protected project ignores it. */
function refuseChain(project: ProjectRow, { kind, transform_chain }: MintSignedUrl): void {
  if (kind !== 'derived') return;
  const chain = readChain(transform_chain, project.resolution_presets);
  if (chain === undefined) throw invalidChain();
  const isBound = project.delivery_access === 'public';
  if (isBound && !isAllowedChain(chain, readAllowedChains(project))) {
    throw new ServiceError('transform_chain_not_allowed');
  }
}

function invalidChain(): ServiceError {
  const message = 'expected a chain with a preset of this project and each operation only once';
  return wrongInput({ path: 'transform_chain', message });
}

function sign(
  { sealing, settings }: ApiDeps,
  { project, key, input }: { project: ProjectRow; key: Key; input: MintSignedUrl },
): SignedUrlRecord {
  const { project_id, project_slug } = project;
  const { kid } = key;
  const path = printDeliveryPath(targetOf(input));
  const exp = Math.floor(key.now_seconds) + input.expires_in_seconds;
  const secret = openSecret(sealing, key.secret_sealed, signingKeyContext(kid));
  const sig = signDeliveryUrl({ secret, project_id, kid, exp, path });
  const url = printDeliveryUrl({
    ...deliveryOrigin(settings, project_slug),
    path,
    signature: { exp, kid, sig },
  });
  return { url, kid, expires_at: new Date(exp * 1000).toISOString() };
}

function targetOf({ file_slug, ...input }: MintSignedUrl) {
  return input.kind === 'derived'
    ? { kind: input.kind, chain_text: input.transform_chain, file_slug }
    : { kind: input.kind, file_slug };
}
