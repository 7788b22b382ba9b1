/** The picker's page and its assets. Spec: Endpoints, Library sessions and the picker. */
import { ServiceError } from '../../core/errors.ts';
import { embedPageQuery } from '../../core/resources/embed-page.ts';
import { parseEmbedOrigin } from '../../core/resources/web-address.ts';
import { verifyEmbedUrl } from '../../core/signing/embed-url.ts';
import type { ApiDeps } from '../deps.ts';
import { ASSET_CACHE_CONTROL } from '../embed/picker-assets.ts';
import { type PickerPlace, pickerHeaders, printPickerPage } from '../embed/picker-page.ts';
import { endpoint } from '../endpoint.ts';
import { Page } from '../page.ts';
import { deliveryOrigin } from '../present/delivery-origin.ts';

export const getEmbedPage = endpoint({
  method: 'GET',
  path: '/embed/{project}/{library}',
  auth: ['embed_url_signature'],
  ok: 200,
  errors: ['invalid_origin', 'invalid_embed_url', 'embed_url_expired', 'not_found'],
  query: embedPageQuery,
  handle: async ({ deps, params, query }) => {
    const { project = '', library = '' } = params;
    checkSignature(deps, { project, library, query });
    const place = placeOf(deps, { project, library, origin: query.o });
    return new Page({ headers: pickerHeaders(place), bytes: Buffer.from(printPickerPage(place)) });
  },
});

export const getEmbedAsset = endpoint({
  method: 'GET',
  path: '/embed/_assets/{file}',
  auth: ['none'],
  ok: 200,
  errors: ['not_found', 'embed_unavailable'],
  cache_control: ASSET_CACHE_CONTROL,
  handle: ({ deps, params }) => deps.pickerAssets(params['file'] ?? ''),
});

type Addressed = Pick<Parameters<typeof verifyEmbedUrl>[0], 'project' | 'library' | 'query'>;

/** Needs no database: only a mint hands out such a URL. */
function checkSignature({ libraryKeys, clock }: ApiDeps, addressed: Addressed): void {
  if (parseEmbedOrigin(addressed.query.o) !== addressed.query.o) {
    throw new ServiceError('invalid_origin');
  }
  const now_seconds = Math.floor(clock.now().getTime() / 1000);
  const verdict = verifyEmbedUrl({ keys: libraryKeys.embeds, now_seconds, ...addressed });
  if (verdict !== 'valid') throw new ServiceError(verdict);
}

function placeOf(
  { settings, addresses }: ApiDeps,
  named: Pick<PickerPlace, 'project' | 'library' | 'origin'>,
): PickerPlace {
  const { scheme, host, port } = deliveryOrigin(settings, named.project);
  return {
    ...named,
    delivery_origin: new URL(`${scheme}://${host}${port === null ? '' : `:${port}`}`).origin,
    upload_origin: new URL(addresses.uploadBaseUrl).origin,
  };
}
