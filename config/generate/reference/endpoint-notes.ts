/** What each built endpoint does, for docs/reference/endpoints.md. An endpoint without a note stops the generator. */
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
  'PUT /v1/projects/{slug}/watermark-presets/{id}':
    'Replaces the preset of this id with 200, or makes it with 201: what is not sent gets its default. An id of another shape than `wm_…` is 400. Every image of the project is purged.',
  'DELETE /v1/projects/{slug}/watermark-presets/{id}':
    'Deletes a preset that is not the project’s default; URLs that name it fall back to the default. Every image of the project is purged.',
  'GET /v1/projects/{slug}/recipes':
    'Every [recipe](concepts.md#recipe) of the project, newest first, in one answer: `next_cursor` is null. `valid` is false while the chain names a preset that the project does not have.',
  'PUT /v1/projects/{slug}/recipes':
    'Makes a recipe under a new id; each call makes one. The chain must parse, and a `preset:` in it must be one of the project’s.',
  'GET /v1/projects/{slug}/recipes/{id}': 'One [recipe](concepts.md#recipe).',
  'PUT /v1/projects/{slug}/recipes/{id}':
    'Replaces the recipe of this id with 200, or makes it with 201. An id of another shape than `rcp_…` is 400. One that a Recipe resource declares is set back to what is declared within its next pass.',
  'DELETE /v1/projects/{slug}/recipes/{id}':
    'Deletes a recipe; an unknown id is the same 204. One that a Recipe resource declares comes back, under a new id.',
  'GET /v1/projects/{slug}/uploads': 'A page of [upload sessions](concepts.md#upload-session).',
  'POST /v1/internal/storage-events':
    'What the object storage tells of new objects: `{ events }`, or a notification as AWS, MinIO, Ceph and versitygw send it, signed over its bytes. An event is a hint to look, no more; unknown keys, events and fields are counted as ignored. Answers `{ received, matched, ignored }`.',
  'POST /v1/projects/{slug}/uploads':
    'Begins an upload and reserves its size. The answer is the [session](concepts.md#upload-session) with exactly one way in: `direct` (send the bytes to `put_url` with exactly those headers), `multipart` where `parts` is more than 1 (send each part to its URL and keep the ETag of each answer), or `proxy` with `mode: "proxy"` (send the bytes to `put_url`, which completes the session itself). No named library is known yet.',
  'GET /v1/projects/{slug}/uploads/{id}':
    'One [upload session](concepts.md#upload-session); poll it until `ready` or `failed`.',
  'POST /v1/projects/{slug}/uploads/{id}/complete':
    'Says that the bytes are there. What storage holds decides, so calling it again changes nothing. A multipart session needs `parts`: every `part_number` once, with the ETag that storage answered for it; a refused list leaves the session as it was. A session that failed answers 422 with its own `error_code`.',
  'POST /v1/projects/{slug}/uploads/{id}/parts':
    'Signs the part URLs of a multipart session again: they live 15 minutes, the session 12 hours. Answers `{ parts, urls_expire_at }`.',
  'POST /v1/projects/{slug}/uploads/{id}/abort':
    'Gives a session up: it is `expired` at once, its room is free again, its parts and its object are deleted. Again: the same answer.',
  'GET /v1/projects/{slug}/files':
    'A page of [files](concepts.md#file). Without `status`, all but deleted ones; `q` is the beginning of a slug. `default` is the only library yet: its filters `folder`, `search`, `has_location`, `bbox` and the sorts by name and time are refused by name in this version.',
  'GET /v1/projects/{slug}/files/{fileSlug}':
    'One [file](concepts.md#file). `include=location` adds where and when it was taken.',
  'PATCH /v1/projects/{slug}/files/{fileSlug}':
    'Changes what is sent, and answers the [file](concepts.md#file). `title` and `alt_text` lose control and bidirectional characters, are trimmed and cut to 200 and 1,000 characters; empty or null clears. `folder` is normalized, empty is the root; no named library is known yet.',
  'DELETE /v1/projects/{slug}/files/{fileSlug}':
    'Deletes the file and every watermark preset that draws it; a preset that was the project’s default leaves none. Its images are gone from delivery within 30 s and are purged from the CDN, its bytes go after an hour. Deleting it again is the same 204; a slug that never had a file is 404. A later upload of the slug is a new file from revision 1, blocked where this one was.',
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes':
    'Notes something about a file for those who moderate, as `note` or by its other name `body`. A file has one note: a second replaces it. Answers `{ project_slug, file_slug, note, author }` and its times.',
  'GET /v1/projects/{slug}/usage':
    'The [usage record](concepts.md#usage-record) of a range. `from` and `to` are ISO 8601 dates or timestamps; a date as `to` includes that day.',
};
