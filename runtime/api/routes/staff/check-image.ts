/** Spec: Endpoints, Staff (the image of a check); Staff previews. */
import { ServiceError } from '../../../core/errors.ts';
import {
  PREVIEW_LARGE_PIXELS,
  PREVIEW_THUMB_PIXELS,
  WEBP_QUALITY_DEFAULT,
} from '../../../core/limits.ts';
import { checkImageQuery } from '../../../core/resources/scanner-check.ts';
import { insertAuditEntry } from '../../../db/audit-log.ts';
import { findScannedRevision } from '../../../db/scanned-revisions.ts';
import { findCheck } from '../../../db/scanner-checks.ts';
import { auditActor } from '../../audit-actor.ts';
import { endpoint } from '../../endpoint.ts';
import { renderPreview } from '../../render-preview.ts';

const PIXELS = { thumb: PREVIEW_THUMB_PIXELS, large: PREVIEW_LARGE_PIXELS };

/** Shows the scanned revision, even if a newer one has replaced it. Each large view is audited. */
export const getStaffCheckImage = endpoint({
  method: 'GET',
  path: '/v1/staff/checks/{id}/image',
  auth: ['staff'],
  ok: 200,
  errors: ['content_missing', 'preview_too_large', 'preview_unavailable', 'preview_busy'],
  cache_control: 'private, no-store',
  query: checkImageQuery,
  handle: async ({ deps, principal, params, query: { size }, request_id, left }) => {
    const check = await findCheck(deps.db, params['id'] ?? '');
    if (check === undefined) throw new ServiceError('not_found');
    const source = await findScannedRevision(deps.db, check);
    if (source === undefined) throw new ServiceError('content_missing');
    const shape = { fit: 'box', format: 'webp', quality: WEBP_QUALITY_DEFAULT } as const;
    const rendition = { ...shape, pixels: PIXELS[size] };
    const picture = await renderPreview(deps, source, { rendition, left });
    if (size === 'large') {
      const { check_id: target, project_id, file_id, revision } = check;
      const seen = { action: 'check.view', target, after: { file_id, revision } };
      await insertAuditEntry(deps.db, {
        project_id,
        ...auditActor({ principal, request_id }),
        ...seen,
      });
    }
    return picture;
  },
});
