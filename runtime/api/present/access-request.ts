/** An access request's row as staff see it. Spec: Staff, access-requests. */
import type { AccessRequestRecord } from '../../core/resources/access-request.ts';
import type { AccessRequestRow } from '../../db/access-requests.ts';

export function presentAccessRequest({
  access_request_id,
  created_at,
  ...row
}: AccessRequestRow): AccessRequestRecord {
  return { id: access_request_id, ...row, created_at: created_at.toISOString() };
}
