/** What each field means, for docs/reference/concepts.md. A field without a note does not compile. */
import { fileNotes, uploadNotes } from './file-notes.ts';
import { libraryNotes } from './library-notes.ts';
import type { FieldNotes } from './resources.ts';

export const fieldNotes: FieldNotes = {
  organization: {
    organization_id: '`org_…`.',
    name: 'What people call it.',
    credit_balance: 'Credits left; may fall below zero, because deliveries are charged afterwards.',
    quota_exceeded_at:
      'Since when delivery is refused for lack of credits; null while there are some.',
    billing_exempt: 'Deliveries are counted and not charged.',
    billing_exempt_until:
      'When the last exemption ended, so that its usage is never charged later.',
  },
  project: {
    project_slug: 'Names the project in every path and in its delivery host. Never changes.',
    project_id: '`prj_…`.',
    organization_id: 'The organization that pays.',
    name: 'What people call it; the slug where no name was given.',
    delivery_access: '`public`: anybody may ask. `protected`: every URL must be signed.',
    default_delivery_host:
      'The host that serves its images; nothing has to be set up in DNS for it.',
    custom_domains: 'Further hosts, given by staff. An owner cannot send this field.',
    cors_allowed_origins:
      'Kept and answered for clients. Delivery itself lets every origin read its images.',
    resolution_presets: 'Named transform chains, used in URLs as `preset:<name>`.',
    allowed_transform_chains:
      'On a public project, the only chains that unsigned URLs may use; empty means any.',
    default_watermark_preset_id: 'The preset that is drawn on every derived image, or null.',
    raw_download_enabled: 'Whether `/download/raw` may be asked for.',
    callback_url: 'Where events go, or null for nowhere.',
    callback_secret_set: 'Whether a signing secret for events exists.',
    callback_secret: 'That secret, in the one answer that made it.',
    status:
      'A suspended project serves nothing, takes no uploads, and its keys do not authenticate.',
    suspended_by: 'Who suspended it. What staff suspended, only staff reactivate.',
    storage_hard_limit_bytes: 'The most that its files may take.',
    storage_limit_source: 'Whether that limit is the plan’s, or one that staff set.',
    file_count: 'Files that are ready or blocked.',
    storage_bytes: 'Their size as kept. Derived images are not counted.',
    active_signing_kid:
      'The key that signs new URLs. Like the counters it may change while `updated_at` stays.',
    pricing_multiplier: 'Factor of the daily charge, set by staff.',
  },
  'api key': {
    id: '`key_…`.',
    name: 'What people call it.',
    scopes: 'What it may do. A key that was made without a list has all of them, and lists them.',
    prefix: 'The first characters of the secret.',
    last_four: 'Its last four.',
    status: 'A revoked key never authenticates again.',
    last_used_at: 'The last time that it authenticated, roughly; null: never.',
  },
  'created api key': {
    plaintext_secret: 'The secret itself. Only a hash of it is kept, so it is never shown again.',
  },
  'signing key': {
    kid: 'Stands in the URLs that it signed.',
    status: 'One key is active; retired ones go on verifying for a while.',
    retire_after: 'Until when a retired key verifies; null for the active one.',
  },
  'signed url': {
    url: 'The delivery URL with exp, kid and sig.',
    kid: 'The key that signed it.',
    expires_at: 'When it stops working.',
  },
  upload: uploadNotes,
  file: fileNotes,
  'watermark preset': {
    id: '`wm_…`; URLs name it as `watermark:<id>`.',
    name: 'What people call it; no two presets of a project share one.',
    file_slug: 'The file that is drawn, always in its current revision.',
    x_offset: 'Pixels of the output from the left edge; negative: from the right.',
    y_offset: 'Pixels of the output from the top edge; negative: from the bottom.',
    opacity: 'Percent; 100 hides what is beneath.',
  },
  ...libraryNotes,
  recipe: {
    id: '`rcp_…`.',
    name: 'What people call it; no two recipes of a project share one.',
    transform_chain: 'The chain as it was written.',
    schema_version: 'Of this record.',
    valid: 'False where a stored chain can no longer be read.',
  },
  usage: {
    project_slug: 'The project.',
    from: 'Beginning of the range, inclusive.',
    to: 'End of the range, exclusive.',
    range_capped: 'The range that was asked for was too long and begins later.',
    storage: 'What is stored now.',
    hourly: 'Hours in which something was delivered.',
    daily: 'Days in which something was delivered, each from its first charge on.',
    credit_balance: 'Of the whole organization.',
    reconciled_through:
      'Beginning of the newest final hour: it ended two hours ago. What comes later is added to it nevertheless.',
  },
  'usage hour': {
    window_start: 'Beginning of the hour, UTC.',
    requests: 'Successful deliveries.',
    bytes: 'What their bodies had.',
    transforms: 'Those of them that were derived images.',
    credits: 'What they cost, before the multiplier.',
    computed_at: 'When this was last summed.',
  },
  'usage day': {
    day: 'UTC.',
    requests: 'Successful deliveries.',
    bytes: 'What their bodies had.',
    transforms: 'Those of them that were derived images.',
    credits: 'What they cost, before the multiplier.',
    charged_credits: 'What the organization was charged for the day so far.',
    hours_closed: 'How many of its hours were final when it was charged.',
    finalized_at:
      'When the day was first charged with all of its hours final; null until then. As one of the last three it is charged again for what comes later.',
  },
  'webhook body': {
    id: 'The same at every attempt; receivers use it to drop repetitions.',
    event: 'Its [kind](events.md#event-kinds).',
    created_at: 'When the event was recorded.',
    data: 'The fields of its kind.',
  },
  'webhook delivery': {
    id: 'That of the event, as in `X-Service-Delivery`.',
    event: 'Its [kind](events.md#event-kinds).',
    url: 'Where the next attempt goes, or the last one went.',
    status: '[State](states.md#webhook-delivery-attempt).',
    body: 'What every attempt sends, byte for byte.',
    attempts: 'The last 20 that ended, oldest first.',
    next_attempt_at: 'When it is sent next; null: not any more.',
    last_status: 'Status of the last answer; null: none came.',
    last_error: 'Why the last attempt failed; null: it did not.',
    delivered_at: 'When the endpoint last took it.',
    request_id:
      'The `x-request-id` of what caused the event; every attempt carries it as a header, and our logs have it.',
  },
  'webhook attempt': {
    number: 'From 1, in the order in which they ended.',
    asked_by: '`schedule`, or `person`: redelivered by hand.',
    started_at: 'Also the `t` of its signature.',
    duration_ms: 'From resolving the name to the end of the answer.',
    response_status: 'null: no answer came.',
    response_excerpt: 'The first 1,000 characters of the answer’s body.',
    error: 'Why it failed; null: the endpoint took it.',
  },
  me: {
    user: 'The person.',
    organization: 'The one organization that a person has.',
    role: 'The person’s role in it.',
    staff: 'Whether the person is staff of this installation.',
  },
  user: {
    user_id: '`usr_…`.',
    subject: 'The `sub` of the identity provider’s tokens.',
    email: 'As the first request’s display header said.',
    first_name: 'Likewise.',
    last_name: 'Likewise.',
    name: 'Likewise.',
  },
};
