/** What the endpoints of staff and of the public do, for the reference. */
export const staffNotes: Readonly<Record<string, string>> = {
  'POST /v1/public/access-requests':
    'Takes in who asks for access: 10 a minute from one address and 3 an hour for one e-mail address. Pages of the [marketing origins](../configuration.md) and of localhost may call it. A site that calls for its visitors sends `X-Service-Client-Ip-Hash`, the SHA-256 of address and salt in hex, which counts only where every hop is a trusted proxy. `source_ip_hash` is accepted and ignored. Answers `{ accepted: true }`.',
  'GET /v1/public/status':
    'Answers `{ services, incidents }`: of `api`, `delivery`, `render`, `ingest` and `webhooks` whether each did its work, minute by minute over 24 hours, and the incidents that are open or ended within a week.',
  'GET /v1/staff/access-requests': 'Who asked for access, newest first.',
  'GET /v1/staff/organizations/{organization_id}':
    'One [organization](concepts.md#organization) with its quota. That it was read is audited.',
  'PATCH /v1/staff/organizations/{organization_id}':
    'Free usage on or off. On: `quota_exceeded_at` is cleared at once, and the hour and all that follow are not charged; what was used before is, at the next daily charge. Off: `billing_exempt_until` is now. What is so already stays as it is. Audited with before and after.',
  'GET /v1/staff/projects':
    'Projects of every organization, or of one: [projects](concepts.md#project) with `nudity_auto_block`.',
  'GET /v1/staff/projects/{slug}':
    'One [project](concepts.md#project) with `nudity_auto_block`. That it was read is audited.',
  'PATCH /v1/staff/projects/{slug}':
    'State, custom domains, room, price and scanner switch. Domains are whole lists of at most 32 host names, none of them under the delivery root domain or another project’s. A suspension by staff is ended by staff alone. Switching `nudity_auto_block` off lets the scanner’s blocks go that staff did not reject, in the same transaction; their checks still wait for a review.',
  'GET /v1/staff/projects/{slug}/files': 'Files of any project.',
  'GET /v1/staff/projects/{slug}/uploads': 'Upload sessions of any project.',
  'GET /v1/staff/projects/{slug}/usage':
    'The [usage record](concepts.md#usage-record) of any project, as its owner sees it.',
  'POST /v1/staff/files/{fileId}/block':
    'Delivery refuses the file at once, caches forget it, watermark presets that draw it go, and the project is told `reason`, of which 500 characters are kept. Blocking a blocked file makes the block that of staff, for the new `reason`, and tells nobody.',
  'POST /v1/staff/files/{fileId}/unblock':
    'The file is served again, its flagged checks are approved with `note`, that of a picture which is not scanned yet as soon as it is flagged, and the project is told. Unblocking a file that is served approves its checks alone.',
  'GET /v1/staff/moderation-notes': 'Notes that people of projects left, newest first.',
  'GET /v1/staff/reconciliation':
    'The last seven UTC days with today, oldest first, of one project or of all together: what delivery servers sent, what was summed of it, what an exemption spares, what the day costs and what was charged. `differences` tell where two of them do not agree, why, and what to do. `missing_batches` and `lost_deliveries` are usage of that day that delivery servers had and nobody got, of the whole installation, as nobody can say whose it was.',
  'GET /v1/staff/checks':
    'What the scanner found, newest first. `review=unreviewed&status=flagged` is the queue. Audited with the ids of the page.',
  'GET /v1/staff/checks/{id}': 'One check with its reviews, newest first.',
  'GET /v1/staff/checks/{id}/image':
    'The picture that was scanned, as WebP inside a box of 480 (`thumb`) or 1600 pixels (`large`), never enlarged; also where another revision has taken its place, as long as its bytes are kept. Nobody keeps it: `private, no-store`. That it was seen large is audited. A process renders one at a time, and 32 may wait.',
  'POST /v1/staff/checks/{id}/review':
    '`approved` lets a file go that the scanner blocked, not one that staff blocked; `rejected` blocks one that is served. A check of a revision that is no longer the file’s, or of a deleted file, takes the decision and moves nothing, but that the scanner’s block ends where all that was flagged from it on is approved and the newest picture is clear. A check may be reviewed again: the last decision counts, but a file that a rejection blocked is let go by an unblock alone. Answers the check with its reviews.',
  'GET /v1/staff/incidents':
    'Incidents, newest first; with `active_since`, an ISO 8601 timestamp or a date, which is its midnight UTC, those that were open then or later.',
  'POST /v1/staff/incidents':
    'Tells of an incident on the status page. `started_at` is now if left out.',
  'PATCH /v1/staff/incidents/{id}':
    'Says more in `body`, ends it by `ended_at`, or opens it again by null. Automatic incidents close by themselves.',
  'GET /v1/staff/audit':
    'Who did what, newest first: `{ audit_id, organization_id, project_slug, actor_kind, actor_id, action, target, before, after, request_id, created_at }`, by any of them and from `since` until `until`, each an ISO 8601 timestamp or a date, which is its midnight UTC.',
};
