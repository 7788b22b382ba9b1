/**
 * Help with projects and their contents: keys, presets, recipes, files, signed URLs. Spec: Resources and their fields.
 */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

export const projectHelp = {
  project_exists: {
    cause:
      'A project with this `project_slug` exists, in your organization or in another one. A slug is part of a host name, so it is unique; a suspended project keeps its slug.',
    steps: [
      'Check in `GET /v1/projects` whether the project is already yours.',
      'Otherwise choose another slug, such as one with the name of your company.',
    ],
  },
  project_suspended: {
    cause:
      'The project is suspended, so it accepts no uploads and signs no URLs. Its API keys do not authenticate either.',
    steps: [
      'If you own the project: `PATCH /v1/projects/{slug}` with `{"status": "active"}`.',
      'If that is refused with project_suspended_by_staff, contact support.',
    ],
  },
  project_suspended_by_staff: {
    cause: 'Staff suspended the project, so its owner cannot set it to active.',
    steps: ['Contact support and name the `project_slug`.'],
  },
  custom_domain_taken: {
    cause:
      'Another project has one of these host names in its `custom_domains`. A host belongs to one project.',
    steps: ['Remove it from the other project, or leave it out here.'],
  },
  api_key_quota_exceeded: {
    cause: 'The project has 100 active keys, the maximum. Revoked keys do not count.',
    steps: [
      'List the keys: `last_used_at` shows which ones are unused.',
      'Revoke one, then create the new one. To replace a key, rotate it.',
    ],
  },
  api_key_revoked: {
    cause:
      'The key was revoked, manually or by an earlier rotation, and a revoked key cannot be rotated.',
    steps: [
      'If you repeated a rotation: the key that the first rotation returned is the current one.',
      'Otherwise create a new key.',
    ],
  },
  recipe_name_taken: {
    cause:
      'Another recipe of this project has the same name. A PUT without an id creates a new recipe every time.',
    steps: [
      'To change the existing recipe, find its `id` in the list and PUT to `/recipes/{id}`.',
      'To have a second one, choose another name.',
    ],
  },
  project_quota_exceeded: {
    cause:
      'The organization has as many projects as its plan allows, or more. Suspended and deleted projects count, as a project is never erased.',
    steps: [
      'Use an existing project: `PATCH /v1/projects/{slug}` with `{"status": "active"}` wakes one that you deleted.',
      'Or take a larger plan, or ask support: staff can create a project in your organization.',
    ],
    details: { max_projects: 20 },
  },
  recipe_quota_exceeded: {
    cause: 'The project has 1,000 recipes, the maximum.',
    steps: ['Delete one that is not used, then try again.', 'To change a recipe, PUT to its `id`.'],
  },
  watermark_preset_name_taken: {
    cause:
      'Another watermark preset of this project has the same name. A PUT without an id creates a new preset every time.',
    steps: [
      'To change the existing preset, find its `id` in the list and PUT to `/watermark-presets/{id}`.',
      'To have a second one, choose another name.',
    ],
  },
  watermark_preset_quota_exceeded: {
    cause: 'The project has 1,000 watermark presets, the maximum.',
    steps: ['Delete one that is not used, then try again.', 'To change a preset, PUT to its `id`.'],
  },
  watermark_file_not_ready: {
    cause:
      'The `file_slug` of the watermark is not a ready file of this project: it does not exist, is still being processed, or is blocked or deleted.',
    steps: [
      'Upload the picture to the same project, for example a PNG with transparency.',
      'Wait until the upload is `ready`, then send the preset again.',
    ],
  },
  default_watermark_in_use: {
    cause:
      'This preset is the `default_watermark_preset_id` of the project and is drawn onto every derived image, so it cannot be deleted.',
    steps: [
      '`PATCH /v1/projects/{slug}` with `{"default_watermark_preset_id": null}`, or with the id of another preset.',
      'Then delete this one.',
    ],
  },
  file_not_found: {
    cause:
      'The project has no file with this slug, or the file has been deleted. An upload that is not `ready` has no file yet.',
    steps: [
      'Compare the slug with the list of files; slugs are lower-case.',
      'If you have just uploaded it, read the upload and wait until its status is `ready`.',
    ],
  },
  file_not_ready: {
    cause:
      'The file exists but is blocked by moderation, so a signed URL for it would only lead to a refusal.',
    steps: [
      'Read the file to see its `status`.',
      'If it was blocked in error, leave a moderation note and have it unblocked.',
    ],
  },
  signing_key_missing: {
    cause: 'The project has no active signing key, so its URLs cannot be signed.',
    steps: [
      'Rotate the signing keys once: `POST /v1/projects/{slug}/signing-keys/rotate`.',
      'Then request the URL again.',
    ],
  },
  transform_chain_not_allowed: {
    cause:
      'The project is public and has a list of `allowed_transform_chains`, and this chain is not on it. On a protected project, the list is ignored.',
    steps: [
      'Use one of the listed chains; a preset in the list allows the chain that it stands for.',
      'Or add this chain to `allowed_transform_chains`.',
    ],
  },
  raw_download_disabled: {
    cause:
      'A raw download carries the metadata of the picture, such as where it was taken. It is off until the owner of the project turns it on.',
    steps: [
      '`PATCH /v1/projects/{slug}` with `{"raw_download_enabled": true}`.',
      'Or sign `originals`, which has no metadata.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
