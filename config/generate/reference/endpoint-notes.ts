/**
 * What each endpoint does, for docs/reference/endpoints.md. An endpoint without a note stops the generator.
 */
import type { Endpoint } from '../../../runtime/api/endpoint.ts';
import { exampleIds } from '../openapi/example-ids.ts';
import { staffNotes } from './staff-notes.ts';

/** The name of an endpoint in every table here: its method and path. */
export function nameOf({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

export const endpointNotes: Readonly<Record<string, string>> = {
  'GET /healthz':
    'Answers `{ status }` while the process is alive, regardless of its dependencies.',
  'GET /readyz':
    'Checks the database and both buckets. Answers `{ ready, checks: { database, ingest, content } }`, with 503 if one of them is not ready.',
  'GET /v1/me':
    'The calling person: [user, organization, role and whether they are staff](concepts.md#organization). A person’s first call creates their user and organization.',
  'GET /v1/organizations':
    'The caller’s own [organization](concepts.md#organization), as a list with one item.',
  'POST /v1/organizations':
    'Staff: creates an organization on the trial plan, with its credits; 201. `name` is required when a body is sent. Everyone else: answers the organization that the first login created, with 200, and ignores the body.',
  'GET /v1/projects':
    'The projects of the caller’s organization, as a page of [projects](concepts.md#project).',
  'POST /v1/projects':
    'Creates a project and its first signing key. `slug` is an old name of `project_slug`: send one of them. Only staff may send `organization_id`.',
  'GET /v1/projects/{slug}': 'One [project](concepts.md#project).',
  'PATCH /v1/projects/{slug}':
    'Changes settings; fields that are not sent keep their values. Only staff may send `storage_hard_limit_bytes` and `pricing_multiplier`; a new multiplier applies from the next full hour. `project_default_watermark` is an old name of `default_watermark_preset_id`; an empty text clears it. Setting the first `callback_url`, or sending `rotate_callback_secret`, returns `callback_secret` once.',
  'DELETE /v1/projects/{slug}':
    'Suspends the project as its owner: delivery, uploads and keys stop, nothing is lost, and `status: "active"` reactivates it. Repeating the call answers the same 204. There is no other deletion.',
  'GET /v1/key':
    'The calling [key](concepts.md#api-key), with `project_slug`, `project_id` and `organization_id` and without its times. A client uses it to find out which project it belongs to.',
  'GET /v1/projects/{slug}/keys':
    'Every [key](concepts.md#api-key), revoked ones included, newest first, in one response: `next_cursor` is null. If there are more than 1,000, the newest and all active ones.',
  'POST /v1/projects/{slug}/keys':
    'Creates a key and returns the [key](concepts.md#api-key) with `plaintext_secret`. Without `scopes`, the key has every scope; an empty list is refused.',
  'POST /v1/projects/{slug}/keys/{keyId}/revoke':
    'Revokes the key at once; it stays in the list. Returns the [key](concepts.md#api-key). Repeating the call returns the same response.',
  'POST /v1/projects/{slug}/keys/{keyId}/rotate':
    'Creates a key with the name and scopes of this one and revokes this one, in one step: at no moment do both keys work, or neither. Returns the new [key](concepts.md#api-key) with `plaintext_secret`. Also works with 100 active keys.',
  'GET /v1/projects/{slug}/signing-keys':
    'Every [signing key](concepts.md#signing-key), newest first, in one response: `next_cursor` is null. If there are more than 1,000, the newest. Secrets are never returned.',
  'POST /v1/projects/{slug}/signing-keys/rotate':
    'Creates a key that signs from now on, and returns it. The previous key verifies for another 24 hours, until its `retire_after`, so URLs that were handed out keep working. If the project has no key, creates the first one. 429 while 1,000 keys of the project still verify.',
  'POST /v1/projects/{slug}/signed-url':
    'Signs a delivery URL. Without `kind`, a chain means a derived image and no chain means the original. As a chain, `originals` and `download/raw` are old names of the kinds `originals` and `raw`. Every signed URL is audited.',
  'GET /v1/projects/{slug}/watermark-presets':
    'Every [watermark preset](concepts.md#watermark-preset) of the project, newest first, in one response: `{ items }`.',
  'PUT /v1/projects/{slug}/watermark-presets':
    'Creates a preset under a new id, one per call. Offsets are output pixels from the left and top; negative offsets are from the right and bottom. They are rounded to whole numbers. Every image of the project is purged.',
  'GET /v1/projects/{slug}/watermark-presets/{id}':
    'One [watermark preset](concepts.md#watermark-preset).',
  'PUT /v1/projects/{slug}/watermark-presets/{id}': `Replaces the preset of this id with 200, or creates it with 201. Fields that are not sent get their defaults. An id that is not shaped like \`${exampleIds.wm}\` is 400. Every image of the project is purged.`,
  'DELETE /v1/projects/{slug}/watermark-presets/{id}':
    'Deletes a preset that is not the project’s default. URLs that name it fall back to the default. Every image of the project is purged.',
  'GET /v1/projects/{slug}/recipes':
    'Every [recipe](concepts.md#recipe) of the project, newest first, in one response: `next_cursor` is null. `valid` is false while the chain names a preset that the project does not have.',
  'PUT /v1/projects/{slug}/recipes':
    'Creates a recipe under a new id, one per call. The chain must parse, and a `preset:` in it must name a preset of the project.',
  'GET /v1/projects/{slug}/recipes/{id}': 'One [recipe](concepts.md#recipe).',
  'PUT /v1/projects/{slug}/recipes/{id}': `Replaces the recipe of this id with 200, or creates it with 201. An id that is not shaped like \`${exampleIds.rcp}\` is 400. If a Recipe resource declares the recipe, its next pass restores what is declared.`,
  'DELETE /v1/projects/{slug}/recipes/{id}':
    'Deletes a recipe; an unknown id is the same 204. If a Recipe resource declares the recipe, it comes back under a new id.',
  'GET /v1/projects/{slug}/uploads':
    'A page of [upload sessions](concepts.md#upload-session). Thirty days after a session has ended, it no longer has its title and original file name. It also loses its folder if it produced no file, or if that file was deleted at least as long ago.',
  'POST /v1/internal/storage-events':
    'Receives events of the object storage about new objects: `{ events }`, each `{ event: "ObjectCreated:…", key }`, or a notification in the format of AWS, MinIO, Ceph and versitygw, signed over its bytes. An event is only a hint to look; unknown keys, events and fields are counted as ignored. Answers `{ received, matched, ignored }`.',
  'POST /v1/projects/{slug}/uploads':
    'Creates an upload session and reserves its size. The response is the [session](concepts.md#upload-session) with exactly one way to send the bytes: `direct` (send the bytes to `put_url` with exactly those headers), `multipart` if `parts` is more than 1 (send each part to its URL and keep the ETag of each response), or `proxy` with `mode: "proxy"` (send the bytes to `put_url`, which also completes the session). `library` and `folder` set the location of the file; an existing file with this slug keeps its location.',
  'GET /v1/projects/{slug}/uploads/{id}':
    'One [upload session](concepts.md#upload-session); poll it until `ready` or `failed`.',
  'POST /v1/projects/{slug}/uploads/{id}/complete':
    'Declares that all bytes were sent. The stored object decides, so repeating the call changes nothing. A multipart session needs `parts`: every `part_number` once, with the ETag that storage returned for it; a refused list leaves the session unchanged. A failed session answers 422 with its own `error_code`.',
  'POST /v1/projects/{slug}/uploads/{id}/parts':
    'Renews the part URLs of a multipart session: the URLs live 15 minutes, the session 12 hours. Answers `{ parts, urls_expire_at }`.',
  'POST /v1/projects/{slug}/uploads/{id}/abort':
    'Aborts a session: it is `expired` at once, its reserved storage is released, and its parts and its object are deleted. Repeating the call returns the same response.',
  'GET /v1/projects/{slug}/files':
    'A page of [files](concepts.md#file). Without `status`, all files except deleted ones; `q` is the beginning of a slug. Thirty days after its deletion, a file no longer has its title, alternative text, original file name, folder, thumb hash, location, time taken and uploader. With `library` (a slug, or `default`), you can also filter by `folder`, text and location, and sort by name or by time taken. The name is the original file name, or the slug if there is none. With `uploader`, the response also has `filters: { uploader: true }`. Above 100,000 files (`TINTYPE_UNINDEXED_THRESHOLD`), library filters need their [indexes](../libraries.md#large-projects); `search`, and `status=deleted` with such a filter, stay refused.',
  'GET /v1/projects/{slug}/files/{fileSlug}':
    'One [file](concepts.md#file). `include=location` adds where and when it was taken.',
  'PATCH /v1/projects/{slug}/files/{fileSlug}':
    'Changes the fields that are sent, and returns the [file](concepts.md#file). In `title` and `alt_text`, control and bidirectional characters are removed, and the text is trimmed and cut to 200 and 1,000 characters; empty or null clears them. `folder` is normalized; empty is the root. Another `library` without a folder means the root of that library.',
  'DELETE /v1/projects/{slug}/files/{fileSlug}':
    'Deletes the file and every watermark preset that draws it; if one was the project’s default, the project has no default any more. Delivery stops serving its images within 30 s, and they are purged from the CDN; its bytes are deleted after an hour. Deleting it again is the same 204; a slug that never had a file is 404. A later upload under the slug is a new file from revision 1, blocked if this one was.',
  'POST /v1/projects/{slug}/files/move':
    'Moves up to 1,000 files to `folder`, all or none. With `library`, they move to that library; without it, each stays in its own. A repeated slug counts once. Answers `{ moved: [{ file_slug, library, folder }], not_found }`, where `not_found` lists the slugs without a live file. Nothing is purged, and no webhook is sent.',
  'GET /v1/projects/{slug}/libraries':
    'A page of [libraries](concepts.md#library), newest first. The default library is not among them.',
  'POST /v1/projects/{slug}/libraries':
    'Creates a [library](concepts.md#library). The slug is trimmed and lowercased; the slug of a deleted library is free again. `delivery_access` and `map_enabled` are reserved and not supported.',
  'GET /v1/projects/{slug}/libraries/{lib}':
    'One [library](concepts.md#library). `default` is the library that every project has: its `library_id` and its times are null.',
  'PATCH /v1/projects/{slug}/libraries/{lib}':
    'Changes `name` and `allowed_origins`; fields that are not sent keep their values. For `default`, only the origins can be changed, and they apply to every library of the project. `delivery_access` and `map_enabled` are reserved and not supported.',
  'DELETE /v1/projects/{slug}/libraries/{lib}':
    'Deletes a library that holds no files, not even blocked ones, and has no unfinished uploads.',
  'POST /v1/projects/{slug}/library-sessions':
    'Creates a [library session](concepts.md#library-session) for one end user, your `subject`, and one embedding page, `origin`, which the library or the default library must allow. `folder` limits the session to that folder and all below. The key needs `files:read` for browse and browse_own, `files:write` for upload, and `urls:sign` if delivery is protected. `max_file_bytes` is 25 MiB, or the largest upload through the proxy if that is less. With `refresh_of`, a token that expired at most 10 minutes ago, the session continues with the same permissions or fewer. A token that does not verify, or was revoked, starts a new session.',
  'POST /v1/projects/{slug}/library-sessions/revoke':
    'Ends every library session of the project, or of one `subject`, within seconds. New sessions for them are refused for a minute.',
  'GET /v1/library/files':
    'A page of the ready files that the session may see: those in its folder and all below, newest first. With `browse_own`, only files whose current revision its subject uploaded. `limit` is at most 60.',
  'POST /v1/library/uploads':
    'Creates an upload into the folder of the session, under a generated slug. Send the bytes to `proxy.put_url`.',
  'GET /v1/library/uploads/{id}':
    'An upload of this session; poll it until `ready` or `failed`. `file` is set while its file is ready.',
  'POST /v1/library/uploads/{id}/complete':
    'Declares that all bytes were sent; call it if the PUT got no response. Repeating the call returns the same response.',
  'POST /v1/library/uploads/{id}/abort':
    'Aborts an upload whose bytes have not arrived; the picker calls this when a person cancels. The upload is `expired` at once, and its reserved storage is released. It still counts towards `max_uploads`. Repeating the call returns the same response.',
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes':
    'Leaves a note about a file for moderators, as `note` or under its other name `body`. A file has one note: a second one replaces it. Answers `{ project_slug, file_slug, note, author }` and its times.',
  'GET /v1/projects/{slug}/webhook-deliveries':
    'Deliveries to the callback URL, newest first, until 30 days after their last attempt, each with its last 20 attempts: the time, the duration, and the status and beginning of the response, or why there was none. `body` is what was signed, byte for byte. Filter with `event` and `status`.',
  'POST /v1/projects/{slug}/webhook-deliveries/{id}/redeliver':
    'Sends a delivery once more, under its id, to the current callback URL, whatever its state. This attempt does not count among the ten of its schedule. The attempt is under way when the response arrives; the list shows its result. Without a callback URL: 400.',
  'POST /v1/projects/{slug}/webhook-test':
    'Sends the event `webhook.test` to the callback URL, in the same way as any other event. Without a callback URL: 400.',
  'POST /v1/billing/providerb/webhook':
    'Answers `{ status }`: `processed`, `duplicate` (its `id` was processed before) or `ignored`. Only `subscription.paid` gives credits, once per transaction. An event that is refused with 503 is not recorded, so the provider sends it again: see [Billing](../billing.md).',
  'POST /v1/billing/providera/webhook':
    'The same for provider A, whose `invoice.paid` gives credits.',
  'POST /v1/billing/cancel-subscription':
    'Cancels the subscription at the end of the paid period: `{ status: "scheduled_cancel" }`. If it has already ended: `canceled` or `expired`. Of two concurrent calls, one reaches the provider and the other is 409 `already_cancelling`.',
  'GET /embed/{project}/{library}':
    'The page of the [picker](../picker.md), which only the origin `o` may embed in a frame. The URL is the `embed_url` of a library session, used exactly as it was returned; it is checked without the database. No origin may frame a refusal. 404 while `TINTYPE_LIBRARY_SESSIONS` is `disabled`.',
  'GET /embed/_assets/{file}':
    'The files that the page loads, under fixed names: `picker.js`, its modules, and `picker.css`.',
  'GET /v1/projects/{slug}/usage':
    'The [usage record](concepts.md#usage-record) of a range. `from` and `to` are ISO 8601 dates or timestamps; a date as `to` includes that day.',
  ...staffNotes,
};
