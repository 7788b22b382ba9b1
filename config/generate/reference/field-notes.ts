/**
 * What each field means, for docs/reference/concepts.md. A field without a note does not compile.
 */
import { fileNotes, uploadNotes } from './file-notes.ts';
import { libraryNotes } from './library-notes.ts';
import type { FieldNotes } from './resources.ts';

export const fieldNotes: FieldNotes = {
  organization: {
    organization_id: '`org_…`.',
    name: 'The display name.',
    credit_balance:
      'Remaining credits; may fall below zero, because deliveries are charged afterwards.',
    quota_exceeded_at:
      'When delivery began to be refused for lack of credits; null while credits remain.',
    billing_exempt: 'Whether deliveries are counted but not charged.',
    billing_exempt_until: 'When the last exemption ended. Usage during it is never charged later.',
  },
  project: {
    project_slug: 'Identifies the project in every path and in its delivery host. Never changes.',
    project_id: '`prj_…`.',
    organization_id: 'The organization that pays.',
    name: 'The display name; the slug if no name was given.',
    delivery_access: '`public`: anyone may fetch images. `protected`: every URL must be signed.',
    default_delivery_host: 'The host that serves its images; it needs no DNS setup of its own.',
    custom_domains: 'Additional hosts, set by staff. An owner cannot send this field.',
    cors_allowed_origins:
      'Stored and returned for clients. Delivery itself lets every origin read its images.',
    resolution_presets: 'Named transform chains, used in URLs as `preset:<name>`.',
    allowed_transform_chains:
      'On a public project, the only chains that unsigned URLs may use; empty means any.',
    default_watermark_preset_id:
      'The watermark preset that is drawn on every derived image, or null.',
    raw_download_enabled: 'Whether `/download/raw` is served.',
    callback_url: 'The URL that events are sent to, or null for none.',
    callback_secret_set: 'Whether a signing secret for events exists.',
    callback_secret: 'That secret, only in the response that created it.',
    status:
      'A suspended project serves nothing, takes no uploads, and its keys do not authenticate.',
    suspended_by: 'Who suspended it. Only staff can reactivate what staff suspended.',
    storage_hard_limit_bytes: 'The most bytes that its files may use.',
    storage_limit_source: 'Whether the limit comes from the plan or was set by staff.',
    file_count: 'The number of files that are ready or blocked.',
    storage_bytes: 'The stored size of these files. Derived images are not counted.',
    active_signing_kid:
      'The key that signs new URLs. Like the counters, it may change while `updated_at` does not.',
    pricing_multiplier: 'The factor of the daily charge, set by staff.',
  },
  'api key': {
    id: '`key_…`.',
    name: 'The display name.',
    scopes:
      'The scopes of the key. A key that was created without a list has all of them, and lists them.',
    prefix: 'The first characters of the secret.',
    last_four: 'The last four characters of the secret.',
    status: 'A revoked key never authenticates again.',
    last_used_at: 'Roughly when it last authenticated; null: never.',
  },
  'created api key': {
    plaintext_secret: 'The secret itself. Only a hash of it is stored, so it is never shown again.',
  },
  'signing key': {
    kid: 'The id of the key; part of the URLs that it signed.',
    status: 'One key is active; retired keys verify for a while longer.',
    retire_after: 'When a retired key stops verifying; null for the active key.',
  },
  'signed url': {
    url: 'The delivery URL with exp, kid and sig.',
    kid: 'The key that signed it.',
    expires_at: 'When the URL stops working.',
  },
  upload: uploadNotes,
  file: fileNotes,
  'watermark preset': {
    id: '`wm_…`; URLs name it as `watermark:<id>`.',
    name: 'The display name, unique among the presets of the project.',
    file_slug: 'The file that is drawn, always its current revision.',
    x_offset: 'Pixels of the output from the left edge; negative: from the right.',
    y_offset: 'Pixels of the output from the top edge; negative: from the bottom.',
    opacity: 'Opacity in percent; 100 hides what is beneath.',
  },
  ...libraryNotes,
  recipe: {
    id: '`rcp_…`.',
    name: 'The display name, unique among the recipes of the project.',
    transform_chain: 'The chain as it was written.',
    schema_version: 'The version of this record.',
    valid: 'False if the stored chain can no longer be read.',
  },
  usage: {
    project_slug: 'The project.',
    from: 'Start of the range, inclusive.',
    to: 'End of the range, exclusive.',
    range_capped: 'Whether the requested range was too long, so that this one begins later.',
    storage: 'What is currently stored.',
    hourly: 'Hours in which something was delivered.',
    daily: 'Days in which something was delivered, each included from its first charge on.',
    credit_balance: 'The balance of the whole organization.',
    reconciled_through:
      'Start of the newest final hour: one that ended two hours ago. Usage that arrives later is still added to it.',
  },
  'usage hour': {
    window_start: 'Start of the hour, UTC.',
    requests: 'Successful deliveries.',
    bytes: 'Bytes in their bodies.',
    transforms: 'How many of them were derived images.',
    credits: 'Their cost, before the multiplier.',
    computed_at: 'When this was last summed.',
  },
  'usage day': {
    day: 'The day, UTC.',
    requests: 'Successful deliveries.',
    bytes: 'Bytes in their bodies.',
    transforms: 'How many of them were derived images.',
    credits: 'Their cost, before the multiplier.',
    charged_credits: 'Credits charged to the organization for the day so far.',
    hours_closed: 'How many hours of the day were final when it was charged.',
    finalized_at:
      'When the day was first charged with all of its hours final; null until then. While it is one of the last three days, it is charged again for usage that arrives later.',
  },
  'webhook body': {
    id: 'The same at every attempt; receivers use it to drop duplicates.',
    event: 'Its [kind](events.md#event-kinds).',
    created_at: 'When the event was recorded.',
    data: 'The fields of its kind.',
  },
  'webhook delivery': {
    id: 'The id of the event, as in `X-Service-Delivery`.',
    event: 'Its [kind](events.md#event-kinds).',
    url: 'The URL of the next attempt, or of the last one.',
    status: 'Its [state](states.md#webhook-delivery-attempt).',
    body: 'What every attempt sends, byte for byte.',
    attempts: 'The last 20 attempts that ended, oldest first.',
    next_attempt_at: 'When the next attempt starts; null: there is none.',
    last_status: 'Status of the last response; null: there was none.',
    last_error: 'Why the last attempt failed; null: it did not fail.',
    delivered_at: 'When the endpoint last accepted it.',
    request_id:
      'The `x-request-id` of the request that caused the event; every attempt carries it as a header, and our logs contain it.',
  },
  'webhook attempt': {
    number: 'The number of the attempt, from 1, in the order in which attempts ended.',
    asked_by: '`schedule`, or `person` for a manual redelivery.',
    started_at: 'When the attempt started; also the `t` of its signature.',
    duration_ms: 'Time from resolving the name to the end of the response.',
    response_status: 'Status of the response; null: there was none.',
    response_excerpt: 'The first 1,000 characters of the response body.',
    error: 'Why the attempt failed; null: the endpoint accepted it.',
  },
  me: {
    user: 'The person.',
    organization: 'The person’s only organization.',
    role: 'The person’s role in it.',
    staff: 'Whether the person is staff of this installation.',
  },
  user: {
    user_id: '`usr_…`.',
    subject: 'The `sub` of the identity provider’s tokens.',
    email: 'From a display header of the first request.',
    first_name: 'Likewise, from its own header.',
    last_name: 'Likewise, from its own header.',
    name: 'Likewise, from its own header.',
  },
};
