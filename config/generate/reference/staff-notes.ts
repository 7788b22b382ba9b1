/** What the staff and public endpoints do, for the reference. */
export const staffNotes: Readonly<Record<string, string>> = {
  'POST /v1/public/access-requests':
    'Records an access request: at most 10 a minute from one IP address, including those that are refused for their bodies, and 3 an hour for one e-mail address. Pages of the [marketing origins](../configuration.md) and of localhost may call it. A site that calls on behalf of its visitors sends `X-Service-Client-Ip-Hash`, the SHA-256 of IP address and salt in hex, which counts only if every hop is a trusted proxy. `source_ip_hash` is accepted and ignored. Answers `{ accepted: true }`.',
  'GET /v1/public/status':
    'Answers `{ services, incidents }`: whether each of `api`, `delivery`, `render`, `ingest` and `webhooks` worked, minute by minute over 24 hours, and the incidents that are open or ended within the last week.',
  'GET /v1/staff/access-requests': 'Access requests, newest first.',
  'GET /v1/staff/organizations/{organization_id}':
    'One [organization](concepts.md#organization) with its quota. Each read is audited.',
  'PATCH /v1/staff/organizations/{organization_id}':
    'Turns free usage on or off. On: `quota_exceeded_at` is cleared at once, and the current and all following hours are not charged; earlier usage is charged at the next daily charge. Off: `billing_exempt_until` becomes now. If the setting already has this value, nothing changes. Audited with before and after.',
  'GET /v1/staff/projects':
    'Projects of every organization, or of one: [projects](concepts.md#project) with `nudity_auto_block`.',
  'GET /v1/staff/projects/{slug}':
    'One [project](concepts.md#project) with `nudity_auto_block`. Each read is audited.',
  'PATCH /v1/staff/projects/{slug}':
    'Changes state, custom domains, storage limit, price and scanner switch. Custom domains are sent as a whole list of at most 32 host names, none of them under the delivery root domain or in use by another project. Only staff can end a suspension by staff. Switching `nudity_auto_block` off lifts the scanner’s blocks that staff did not reject, in the same transaction; their checks still wait for a review.',
  'GET /v1/staff/projects/{slug}/files': 'Files of any project.',
  'GET /v1/staff/projects/{slug}/uploads': 'Upload sessions of any project.',
  'GET /v1/staff/projects/{slug}/usage':
    'The [usage record](concepts.md#usage-record) of any project, as its owner sees it.',
  'POST /v1/staff/files/{fileId}/block':
    'Blocks a file: delivery refuses it at once, it is purged from caches, watermark presets that draw it are deleted, and the project is notified with `reason`, of which 500 characters are kept. Blocking a blocked file turns the block into one by staff, for the new `reason`, and notifies nobody.',
  'POST /v1/staff/files/{fileId}/unblock':
    'Unblocks a file: it is served again, its flagged checks are approved with `note`, and the project is notified. If its picture is not scanned yet, that check is approved as soon as it is flagged. Unblocking a file that is served only approves its checks.',
  'GET /v1/staff/moderation-notes': 'Notes that project members left for moderators, newest first.',
  'GET /v1/staff/reconciliation':
    'The last seven UTC days including today, oldest first, for one project or for all together: what delivery servers sent, what was summed of it, what an exemption waives, what the day costs and what was charged. `differences` says where two of these disagree, why, and what to do. `missing_batches` and `lost_deliveries` are usage of that day that delivery servers had and that never arrived. They count for the whole installation, because the project is unknown.',
  'GET /v1/staff/checks':
    'Scanner checks, newest first. `review=unreviewed&status=flagged` is the review queue. Audited with the ids on the page.',
  'GET /v1/staff/checks/{id}': 'One check with its reviews, newest first.',
  'GET /v1/staff/checks/{id}/image':
    'The scanned picture, as WebP inside a box of 480 (`thumb`) or 1600 pixels (`large`), never enlarged. It is available after a newer revision has replaced it, as long as its bytes are kept. It is never cached: `private, no-store`. Viewing it large is audited. A process renders one picture at a time, and 32 may wait.',
  'POST /v1/staff/checks/{id}/review':
    '`approved` unblocks a file that the scanner blocked, but not one that staff blocked; `rejected` blocks a file that is served. On a check of a replaced revision or of a deleted file, the decision is recorded and the file does not change, with one exception: the scanner’s block ends if everything flagged since that block is approved and the newest picture is clear or approved. A check may be reviewed again, and the last decision counts; but only an unblock releases a file that a rejection blocked. Answers the check with its reviews.',
  'GET /v1/staff/incidents':
    'Incidents, newest first. With `active_since`, an ISO 8601 timestamp or a date (midnight UTC), only those that were open at that time or later.',
  'POST /v1/staff/incidents': 'Opens an incident on the status page. `started_at` defaults to now.',
  'PATCH /v1/staff/incidents/{id}':
    'Updates an incident: `body` changes its text, `ended_at` ends it, and `ended_at: null` reopens it. Automatic incidents close by themselves.',
  'GET /v1/staff/audit':
    'The audit log, newest first: `{ audit_id, organization_id, project_slug, actor_kind, actor_id, action, target, before, after, request_id, created_at }`. Filter by the query parameters, and by time with `since` and `until`, each an ISO 8601 timestamp or a date (midnight UTC).',
};
