/**
 * A file as the picker shows it. The thumbnail URL is unsigned if anybody may fetch it; otherwise it is signed until
 * the session ends. Spec: Library sessions and the picker.
 */
import { isAllowedChain, readAllowedChains, readChain } from '../../core/delivery/chain.ts';
import { printDeliveryPath, printDeliveryUrl } from '../../core/delivery/url.ts';
import { ServiceError } from '../../core/errors.ts';
import type { LibraryFileRecord } from '../../core/resources/library-session.ts';
import { signDeliveryUrl } from '../../core/signing/delivery-url.ts';
import type { ListedFile } from '../../db/files.ts';
import { openSecret } from '../../platform/open-secret.ts';
import { signingKeyContext } from '../../platform/sealing-contexts.ts';
import type { LibrarySessionPrincipal } from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { deliveryOrigin } from './delivery-origin.ts';
import { presentFile } from './file.ts';

const THUMBNAIL_CHAIN = 'resize/320x320/fit/format/webp';

/** One presenter per answer, so that the signing key is opened once. */
export function libraryFilePresenter(
  { settings, sealing }: Pick<ApiDeps, 'settings' | 'sealing'>,
  { facts: project, claims: { exp } }: LibrarySessionPrincipal,
): (row: ListedFile) => LibraryFileRecord {
  const origin = deliveryOrigin(settings, project.project_slug);
  const sign = isFreeForAll(project) ? undefined : thumbnailSigner(sealing, project, exp);
  return (row) => {
    const path = thumbnailPath(row);
    const signature = sign?.(path);
    return {
      ...shownOf(presentFile(row, project.project_slug, settings)),
      thumbnail_url: printDeliveryUrl({ ...origin, path, ...(signature && { signature }) }),
    };
  };
}

function thumbnailPath({ file_slug }: ListedFile): string {
  return printDeliveryPath({ kind: 'derived', chain_text: THUMBNAIL_CHAIN, file_slug });
}

type Project = LibrarySessionPrincipal['facts'];

function isFreeForAll(project: Project): boolean {
  if (project.delivery_access !== 'public') return false;
  const chain = readChain(THUMBNAIL_CHAIN, project.resolution_presets);
  return isAllowedChain(chain, readAllowedChains(project));
}

/** All URLs expire with the session, so a thumbnail's URL stays the same and browsers cache it. */
function thumbnailSigner(sealing: ApiDeps['sealing'], project: Project, exp: number) {
  const { project_id, signing_kid: kid, signing_secret_sealed: sealed } = project;
  if (kid === null || sealed === null) throw new ServiceError('signing_key_missing');
  const secret = openSecret(sealing, sealed, signingKeyContext(kid));
  return (path: string) => ({
    exp,
    kid,
    sig: signDeliveryUrl({ secret, project_id, kid, exp, path }),
  });
}

function shownOf(file: ReturnType<typeof presentFile>): Omit<LibraryFileRecord, 'thumbnail_url'> {
  const { file_slug, file_id, revision, width, height, title, alt_text, folder } = file;
  const { original_filename, content_type, size_bytes, created_at, url } = file;
  const { dominant_color, thumb_hash } = file;
  return {
    file_slug,
    file_id,
    revision,
    width,
    height,
    title,
    alt_text,
    folder,
    original_filename,
    content_type,
    size_bytes,
    dominant_color,
    thumb_hash,
    created_at,
    url,
  };
}
