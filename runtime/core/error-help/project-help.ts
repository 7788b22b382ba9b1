/** Help with projects and what they hold: keys, presets, recipes, files, signed URLs. Spec: Resources and their fields. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const projectHelp = {
  project_exists: {
    cause:
      'A project with this `project_slug` exists, in your organization or in another one. A slug is part of a host name, so that it is unique; a suspended project keeps its own.',
    steps: [
      'Look in `GET /v1/projects` whether the project is yours already.',
      'Otherwise choose another slug, such as one with the name of your company.',
    ],
  },
  project_suspended: {
    cause:
      'The project is suspended, so that it takes no uploads and signs no URLs. Its API keys do not authenticate either.',
    steps: [
      'As its owner: `PATCH /v1/projects/{slug}` with `{"status": "active"}`.',
      'If that is refused with project_suspended_by_staff, contact support.',
    ],
  },
  project_suspended_by_staff: {
    cause: 'Staff suspended the project, so that its owner cannot set it to active.',
    steps: ['Contact support and name the `project_slug`.'],
  },
  custom_domain_taken: {
    cause:
      'Another project has one of these host names in its `custom_domains`. A host leads to one project.',
    steps: ['Remove it from the other project, or leave it out here.'],
  },
  api_key_quota_exceeded: {
    cause:
      'The project has 100 active keys, which is the most that it may have. Revoked ones do not count.',
    steps: [
      'List the keys: `last_used_at` shows which of them nobody uses.',
      'Revoke one, then create the new one. To replace a key, rotate it.',
    ],
  },
  api_key_revoked: {
    cause:
      'The key was revoked, by hand or by an earlier rotation, and what is revoked has no successor.',
    steps: [
      'If you repeated a rotation: the key that the first one answered is the current one.',
      'Otherwise create a new key.',
    ],
  },
  recipe_name_taken: {
    cause:
      'Another recipe of this project has the same name. A PUT without an id makes a new recipe every time.',
    steps: [
      'To change the existing recipe, find its `id` in the list and PUT to `/recipes/{id}`.',
      'To have a second one, choose another name.',
    ],
  },
  recipe_quota_exceeded: {
    cause: 'The project has 1,000 recipes, which is the most that it may have.',
    steps: ['Delete one that is not used, then try again.', 'To change a recipe, PUT to its `id`.'],
  },
  watermark_preset_name_taken: {
    cause:
      'Another watermark preset of this project has the same name. A PUT without an id makes a new preset every time.',
    steps: [
      'To change the existing preset, find its `id` in the list and PUT to `/watermark-presets/{id}`.',
      'To have a second one, choose another name.',
    ],
  },
  watermark_preset_quota_exceeded: {
    cause: 'The project has 1,000 watermark presets, which is the most that it may have.',
    steps: ['Delete one that is not used, then try again.', 'To change a preset, PUT to its `id`.'],
  },
  watermark_file_not_ready: {
    cause:
      'The `file_slug` of the watermark is not a ready file of this project: it does not exist, is still being processed, is blocked or deleted.',
    steps: [
      'Upload the picture to the same project, a PNG with transparency for instance.',
      'Wait until the upload is `ready`, then send the preset again.',
    ],
  },
  default_watermark_in_use: {
    cause:
      'This preset is drawn onto every derived image of the project, as its `default_watermark_preset_id`, so that it cannot be deleted.',
    steps: [
      '`PATCH /v1/projects/{slug}` with `{"default_watermark_preset_id": null}`, or with the id of another preset.',
      'Then delete this one.',
    ],
  },
  file_not_found: {
    cause:
      'The project has no file with this slug, or it has been deleted. An upload that is not `ready` has no file yet.',
    steps: [
      'Compare the slug with the list of files; slugs are lower-case.',
      'If it was uploaded just now, read the upload and wait until its status is `ready`.',
    ],
  },
  file_not_ready: {
    cause:
      'The file exists but is blocked by moderation, so that a signed URL for it would only lead to a refusal.',
    steps: [
      'Read the file: its `status` says what it is.',
      'If it was blocked in error, leave a moderation note and have it unblocked.',
    ],
  },
  signing_key_missing: {
    cause: 'The project has no active signing key, so that nothing can sign its URLs.',
    steps: [
      'Rotate the signing keys once: `POST /v1/projects/{slug}/signing-keys/rotate`.',
      'Then ask for the URL again.',
    ],
  },
  transform_chain_not_allowed: {
    cause:
      'The project is public and has a list of `allowed_transform_chains`, and this chain is not on it. On a protected project the list does not count.',
    steps: [
      'Use one of the listed chains; a preset in the list allows the chain that it stands for.',
      'Or add this chain to `allowed_transform_chains`.',
    ],
  },
  raw_download_disabled: {
    cause:
      'A raw download carries the metadata of the picture, such as where it was taken, and is off for a project until its owner turns it on.',
    steps: [
      '`PATCH /v1/projects/{slug}` with `{"raw_download_enabled": true}`.',
      'Or sign `originals`, which has no metadata.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
