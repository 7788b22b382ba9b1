/** What each built endpoint does, for docs/reference/endpoints.md. An endpoint without a note stops the generator. */
import { exampleIds } from '../openapi/example-ids.ts';
import { staffNotes } from './staff-notes.ts';

export const endpointNotes: Readonly<Record<string, string>> = {
  'GET /healthz': 'Answers `{ status }` while the process lives, whatever its dependencies do.',
  'GET /readyz':
    'Asks the database and both buckets. Answers `{ ready, checks: { database, ingest, content } }`, with 503 when one of them is not ready.',
  'GET /v1/me':
    'Who is calling: [user, organization, role and whether they are staff](concepts.md#organization). The first call of a person makes their user and organization.',
  'GET /v1/organizations':
    'The caller’s own [organization](concepts.md#organization), in a list of one.',
  'POST /v1/organizations':
    'Staff: makes an organization on the trial plan, with its credits; 201. `name` is required when a body is sent. Everybody else: answers the organization that the first login made, with 200, and ignores the body.',
  'GET /v1/projects':
    'The projects of the caller’s organization, as a page of [projects](concepts.md#project).',
  'POST /v1/projects':
    'Makes a project and its first signing key. `slug` is an old name of `project_slug`: send one of them. `organization_id` is for staff.',
  'GET /v1/projects/{slug}': 'One [project](concepts.md#project).',
  'PATCH /v1/projects/{slug}':
    'Changes settings; what is not sent stays. Only staff may send `storage_hard_limit_bytes` and `pricing_multiplier`, and a new multiplier counts from the next full hour. `project_default_watermark` is an old name of `default_watermark_preset_id`, where an empty text clears. Setting the first `callback_url`, or `rotate_callback_secret`, answers `callback_secret` once.',
  'DELETE /v1/projects/{slug}':
    'Suspends the project, as its owner: delivery, uploads and keys stop, nothing is lost, and `status: "active"` brings it back. Again: the same 204. There is no other deletion.',
  'GET /v1/key':
    'The [key](concepts.md#api-key) that is calling, with `project_slug`, `project_id` and `organization_id` and without its times: how a client finds out where it belongs.',
  'GET /v1/projects/{slug}/keys':
    'Every [key](concepts.md#api-key), revoked ones too, newest first, in one answer: `next_cursor` is null. Of more than 1,000 the newest, and all that are active.',
  'POST /v1/projects/{slug}/keys':
    'Makes a key; the answer is the [key](concepts.md#api-key) with `plaintext_secret`. Without `scopes` it may do everything a key can; an empty list is refused.',
  'POST /v1/projects/{slug}/keys/{keyId}/revoke':
    'Ends the key at once; it stays in the list. Again: the same answer. Answers the [key](concepts.md#api-key).',
  'POST /v1/projects/{slug}/keys/{keyId}/rotate':
    'Makes a key with the name and scopes of this one and revokes this one, in one step: there is no moment with both or none. Answers the new [key](concepts.md#api-key) with `plaintext_secret`. Works at 100 active keys too.',
  'GET /v1/projects/{slug}/signing-keys':
    'Every [signing key](concepts.md#signing-key), newest first, in one answer: `next_cursor` is null. Of more than 1,000 the newest. Secrets are never answered.',
  'POST /v1/projects/{slug}/signing-keys/rotate':
    'Makes a new key that signs from now on, and answers it. The one before verifies for 24 hours more, until its `retire_after`, so that URLs which were handed out keep working. Makes the first key where there is none. 429 while 1,000 keys of the project verify.',
  'POST /v1/projects/{slug}/signed-url':
    'Signs a delivery URL. Without `kind` a chain means a derived image and no chain means the original. `originals` and `download/raw` as a chain are old names of the kinds `originals` and `raw`. Every mint is audited.',
  'GET /v1/projects/{slug}/watermark-presets':
    'Every [watermark preset](concepts.md#watermark-preset) of the project, newest first, in one answer: `{ items }`.',
  'PUT /v1/projects/{slug}/watermark-presets':
    'Makes a preset under a new id; each call makes one. Offsets are output pixels from left and top, negative ones from right and bottom, and are rounded to whole numbers. Every image of the project is purged.',
  'GET /v1/projects/{slug}/watermark-presets/{id}':
    'One [watermark preset](concepts.md#watermark-preset).',
  'PUT /v1/projects/{slug}/watermark-presets/{id}': `Replaces the preset of this id with 200, or makes it with 201: what is not sent gets its default. An id of another shape than \`${exampleIds.wm}\` is 400. Every image of the project is purged.`,
  'DELETE /v1/projects/{slug}/watermark-presets/{id}':
    'Deletes a preset that is not the project’s default; URLs that name it fall back to the default. Every image of the project is purged.',
  'GET /v1/projects/{slug}/recipes':
    'Every [recipe](concepts.md#recipe) of the project, newest first, in one answer: `next_cursor` is null. `valid` is false while the chain names a preset that the project does not have.',
  'PUT /v1/projects/{slug}/recipes':
    'Makes a recipe under a new id; each call makes one. The chain must parse, and a `preset:` in it must be one of the project’s.',
  'GET /v1/projects/{slug}/recipes/{id}': 'One [recipe](concepts.md#recipe).',
  'PUT /v1/projects/{slug}/recipes/{id}': `Replaces the recipe of this id with 200, or makes it with 201. An id of another shape than \`${exampleIds.rcp}\` is 400. One that a Recipe resource declares is set back to what is declared within its next pass.`,
  'DELETE /v1/projects/{slug}/recipes/{id}':
    'Deletes a recipe; an unknown id is the same 204. One that a Recipe resource declares comes back, under a new id.',
  'GET /v1/projects/{slug}/uploads':
    'A page of [upload sessions](concepts.md#upload-session). Thirty days after one has ended it no longer has its title and original file name, nor its folder where no file came of it, or where that file was deleted as long ago.',
  'POST /v1/internal/storage-events':
    'What the object storage tells of new objects: `{ events }`, each `{ event: "ObjectCreated:…", key }`, or a notification as AWS, MinIO, Ceph and versitygw send it, signed over its bytes. An event is a hint to look, no more; unknown keys, events and fields are counted as ignored. Answers `{ received, matched, ignored }`.',
  'POST /v1/projects/{slug}/uploads':
    'Begins an upload and reserves its size. The answer is the [session](concepts.md#upload-session) with exactly one way in: `direct` (send the bytes to `put_url` with exactly those headers), `multipart` where `parts` is more than 1 (send each part to its URL and keep the ETag of each answer), or `proxy` with `mode: "proxy"` (send the bytes to `put_url`, which completes the session itself). `library` and `folder` say where the file will lie; a file that has the slug already keeps its place.',
  'GET /v1/projects/{slug}/uploads/{id}':
    'One [upload session](concepts.md#upload-session); poll it until `ready` or `failed`.',
  'POST /v1/projects/{slug}/uploads/{id}/complete':
    'Says that the bytes are there. What storage holds decides, so calling it again changes nothing. A multipart session needs `parts`: every `part_number` once, with the ETag that storage answered for it; a refused list leaves the session as it was. A session that failed answers 422 with its own `error_code`.',
  'POST /v1/projects/{slug}/uploads/{id}/parts':
    'Signs the part URLs of a multipart session again: they live 15 minutes, the session 12 hours. Answers `{ parts, urls_expire_at }`.',
  'POST /v1/projects/{slug}/uploads/{id}/abort':
    'Gives a session up: it is `expired` at once, its room is free again, its parts and its object are deleted. Again: the same answer.',
  'GET /v1/projects/{slug}/files':
    'A page of [files](concepts.md#file). Without `status`, all but deleted ones; `q` is the beginning of a slug. Thirty days after its deletion a deleted file no longer has its title, alternative text, original file name, folder, thumb hash, place, time and uploader. With `library` (a slug, or `default`) also by `folder`, text, place, and sorted by name or by when it was taken. A name is the original file name, or the slug where there is none. With `uploader` the answer also says `filters: { uploader: true }`. Above 100,000 files (`TINTYPE_UNINDEXED_THRESHOLD`) the filters of libraries need their [indexes](../libraries.md#large-projects), and `search`, as well as `status=deleted` with such a filter, stay refused.',
  'GET /v1/projects/{slug}/files/{fileSlug}':
    'One [file](concepts.md#file). `include=location` adds where and when it was taken.',
  'PATCH /v1/projects/{slug}/files/{fileSlug}':
    'Changes what is sent, and answers the [file](concepts.md#file). `title` and `alt_text` lose control and bidirectional characters, are trimmed and cut to 200 and 1,000 characters; empty or null clears. `folder` is normalized, empty is the root. Another `library` without a folder means the root of that one.',
  'DELETE /v1/projects/{slug}/files/{fileSlug}':
    'Deletes the file and every watermark preset that draws it; a preset that was the project’s default leaves none. Its images are gone from delivery within 30 s and are purged from the CDN, its bytes go after an hour. Deleting it again is the same 204; a slug that never had a file is 404. A later upload of the slug is a new file from revision 1, blocked where this one was.',
  'POST /v1/projects/{slug}/files/move':
    'Moves up to 1,000 files to `folder`, all or none; with `library` to that library, without it each stays in its own. A slug that comes twice counts once. Answers `{ moved: [{ file_slug, library, folder }], not_found }`, where `not_found` has the slugs without a live file. Nothing is purged, and no webhook is sent.',
  'GET /v1/projects/{slug}/libraries':
    'A page of [libraries](concepts.md#library), newest first. The default library is not among them.',
  'POST /v1/projects/{slug}/libraries':
    'Makes a [library](concepts.md#library). The slug is trimmed and lowercased; that of a deleted library is free again. `delivery_access` and `map_enabled` are known and not supported.',
  'GET /v1/projects/{slug}/libraries/{lib}':
    'One [library](concepts.md#library). `default` answers the one that every project has: its `library_id` and its times are null.',
  'PATCH /v1/projects/{slug}/libraries/{lib}':
    'Changes `name` and `allowed_origins`; what is not sent stays. Of `default` only the origins can be changed, and they go for every library of the project. `delivery_access` and `map_enabled` are known and not supported.',
  'DELETE /v1/projects/{slug}/libraries/{lib}':
    'Deletes a library that holds no files, blocked ones included, and has no unfinished uploads.',
  'POST /v1/projects/{slug}/library-sessions':
    'Makes a [library session](concepts.md#library-session) for one end user, your `subject`, and one embedding page, `origin`, which the library or the default library must allow. `folder` narrows it to that folder and all below. The key needs `files:read` for browse and browse_own, `files:write` for upload, and `urls:sign` where delivery is protected. `max_file_bytes` is 25 MiB, or the largest upload through the proxy where that is less. With `refresh_of`, a token that is over for 10 minutes at most, the session goes on: the same or less. A token that does not verify, or was revoked, begins a new one.',
  'POST /v1/projects/{slug}/library-sessions/revoke':
    'Ends every library session of the project, or of one `subject`, within seconds. Mints for them are refused for a minute.',
  'GET /v1/library/files':
    'A page of the ready files that the session may see: those of its folder and all below, newest first; with `browse_own` only those whose current revision its subject uploaded. `limit` is up to 60.',
  'POST /v1/library/uploads':
    'Begins an upload into the folder of the session, under a slug that is made for it. Send the bytes to `proxy.put_url`.',
  'GET /v1/library/uploads/{id}':
    'An upload of this session; poll it until `ready` or `failed`. `file` is set while its file is ready.',
  'POST /v1/library/uploads/{id}/complete':
    'Says that the bytes are there, should the PUT have gone without an answer. Again: the same answer.',
  'POST /v1/library/uploads/{id}/abort':
    'Gives an upload up whose bytes have not arrived, as the picker does with one that is canceled: it is `expired` at once, and its room is free again. Among `max_uploads` it still counts. Again: the same answer.',
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes':
    'Notes something about a file for those who moderate, as `note` or by its other name `body`. A file has one note: a second replaces it. Answers `{ project_slug, file_slug, note, author }` and its times.',
  'GET /v1/projects/{slug}/webhook-deliveries':
    'What was sent to the callback URL in the last 30 days, newest first, each with its last 20 attempts: when, how long, the status and the beginning of the answer, or why none came. `body` is what was signed, byte for byte. `event` and `status` filter.',
  'POST /v1/projects/{slug}/webhook-deliveries/{id}/redeliver':
    'Sends a delivery once more, under its id, to the callback URL of now, whatever became of it: an attempt beside the ten of its schedule. It is under way when this answers; the list shows what came of it. Without a callback URL: 400.',
  'POST /v1/projects/{slug}/webhook-test':
    'Sends the event `webhook.test` to the callback URL, as any other event is sent. Without a callback URL: 400.',
  'POST /v1/billing/providerb/webhook':
    'Answers `{ status }`: `processed`, `duplicate` (its `id` was taken before) or `ignored`. Credits come from `subscription.paid` alone, once for each transaction. What is refused with 503 is not recorded, so that the provider sends it again: see [Billing](../billing.md).',
  'POST /v1/billing/providera/webhook':
    'The same of provider A, whose `invoice.paid` gives credits.',
  'POST /v1/billing/cancel-subscription':
    'Cancels the subscription at the end of what is paid: `{ status: "scheduled_cancel" }`. One that has ended already: `canceled` or `expired`. Of two calls at once one reaches the provider, the other is 409 `already_cancelling`.',
  'GET /embed/{project}/{library}':
    'The page of the [picker](../picker.md), for a frame of the origin `o` and of no other. The address is the `embed_url` of a library session, used as it was returned; it is checked without a look at the database. Refusals can be framed by nobody. 404 while `TINTYPE_LIBRARY_SESSIONS` is `disabled`.',
  'GET /embed/_assets/{file}':
    'What that page loads, by fixed names: `picker.js`, its modules, and `picker.css`.',
  'GET /v1/projects/{slug}/usage':
    'The [usage record](concepts.md#usage-record) of a range. `from` and `to` are ISO 8601 dates or timestamps; a date as `to` includes that day.',
  ...staffNotes,
};
