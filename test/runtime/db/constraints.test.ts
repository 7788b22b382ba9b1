import { beforeAll, describe, expect, it } from 'vitest';
import { ConstraintViolation } from '../../../runtime/db/failures.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { insertSigningKey } from '../../../runtime/db/signing-keys.ts';
import type { UploadRow } from '../../../runtime/db/uploads.ts';
import { upsertWatermarkPreset } from '../../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeFile, makeProcessing, makeProject, makeUpload, must } from '../../support/rows.ts';

const { db } = useDatabase();

let project: ProjectRow;
let other: ProjectRow;
let file: FileRow;
let upload: UploadRow;
let processing: UploadRow;
let kid: string;
let presetId: string;

beforeAll(async () => {
  project = await makeProject(db, { project_slug: 'shop' });
  other = await makeProject(db, { project_slug: 'blog' });
  file = await makeFile(db, project, { file_slug: 'hero.png' });
  upload = await makeUpload(db, project);
  processing = await makeProcessing(db, project);
  kid = (
    await insertSigningKey(db, {
      kid: id('kid'),
      project_id: project.project_id,
      secret_sealed: Buffer.from('sealed'),
    })
  ).kid;
  presetId = id('wm');
  await upsertWatermarkPreset(db, {
    watermark_preset_id: presetId,
    project_id: project.project_id,
    name: 'logo',
    file_id: file.file_id,
    x_offset: 0,
    y_offset: 0,
    opacity: 100,
  });
});

/** Sets one thing of a row that exists to something that must never be. */
const broken = (table: string, set: string, where: () => string) => () =>
  `update ${table} set ${set} where ${where()}`;
const theProject = () => `project_id = '${project.project_id}'`;
const theUpload = () => `upload_id = '${upload.upload_id}'`;
const theProcessing = () => `upload_id = '${processing.upload_id}'`;
const theFile = () => `file_id = '${file.file_id}'`;
const theOrganization = () => `organization_id = '${project.organization_id}'`;
const inProject = (table: string, set: string) => broken(table, set, theProject);

const attempts: [promise: string, constraint: string, statement: () => string][] = [
  [
    'a project slug is unique',
    'projects_slug_taken',
    inProject('projects', `project_slug = 'blog'`),
  ],
  [
    'a project slug is a DNS label',
    'projects_slug_shape',
    inProject('projects', `project_slug = 'a_b'`),
  ],
  [
    'file_count is never below zero',
    'projects_file_count_positive',
    inProject('projects', 'file_count = -1'),
  ],
  [
    'storage_bytes is never below zero',
    'projects_storage_bytes_positive',
    inProject('projects', 'storage_bytes = -1'),
  ],
  [
    'reserved_bytes is never below zero',
    'projects_reserved_bytes_positive',
    inProject('projects', 'reserved_bytes = -1'),
  ],
  [
    'a suspension names its author',
    'projects_suspension_names_its_author',
    inProject('projects', `status = 'suspended'`),
  ],
  [
    'an active project has no author of a suspension',
    'projects_suspension_names_its_author',
    inProject('projects', `suspended_by = 'staff'`),
  ],
  [
    'a callback URL has a secret',
    'projects_callback_has_secret',
    inProject('projects', `callback_url = 'https://a.example'`),
  ],
  [
    'a secret has a callback URL',
    'projects_callback_has_secret',
    inProject('projects', `callback_secret_sealed = 'x'`),
  ],
  [
    'a previous secret has an end',
    'projects_previous_secret_ends',
    inProject('projects', `previous_callback_secret_sealed = 'x'`),
  ],
  [
    'the default watermark is a preset of the same project',
    'projects_default_watermark_in_use',
    () => `update projects set default_watermark_preset_id = '${presetId}'
      where project_id = '${other.project_id}'`,
  ],
  [
    'the default watermark cannot be deleted',
    'projects_default_watermark_in_use',
    () => `with chosen as (update projects set default_watermark_preset_id = '${presetId}'
        where project_id = '${project.project_id}' returning project_id)
      delete from watermark_presets using chosen where watermark_preset_id = '${presetId}'`,
  ],
  [
    'a custom domain belongs to one project',
    'project_domains_pkey',
    () => `insert into project_domains (domain, project_id, position)
      values ('img.shop.example', '${project.project_id}', 1), ('img.shop.example', '${other.project_id}', 1)`,
  ],
  [
    'a project has at most 32 custom domains',
    'project_domains_position_check',
    () => `insert into project_domains (domain, project_id, position)
      select 'd' || n || '.example', '${project.project_id}', n from generate_series(1, 33) n`,
  ],
  [
    'a multiplier applies from a full hour',
    'project_pricing_from_full_hour',
    () => `insert into project_pricing (project_id, effective_from, multiplier)
      values ('${project.project_id}', '2026-01-01T10:30:00Z', 2)`,
  ],
  [
    'one signing key of a project is active',
    'signing_keys_one_active',
    () => `insert into signing_keys (kid, project_id, secret_sealed)
      values ('${id('kid')}', '${project.project_id}', 'x')`,
  ],
  [
    'a retired signing key has an end',
    'signing_keys_retired_has_an_end',
    () => `update signing_keys set status = 'retired' where kid = '${kid}'`,
  ],
  [
    'an exempt organization is never over quota',
    'organizations_exempt_is_never_over_quota',
    broken('organizations', 'billing_exempt = true, quota_exceeded_at = now()', theOrganization),
  ],
  [
    'one exemption of an organization is open',
    'organization_exemptions_one_open',
    () => `insert into organization_exemptions (organization_id, starts_at)
      values ('${project.organization_id}', now()), ('${project.organization_id}', now() + interval '1 day')`,
  ],
  [
    'a grant happens once',
    'credit_grants_once',
    () => `insert into credit_grants (organization_id, credits, source, external_id)
      select '${project.organization_id}', 10, 'provider_b', 'evt_1' from generate_series(1, 2)`,
  ],
  [
    'an upload that failed names its code',
    'uploads_failure_names_its_code',
    broken('uploads', `status = 'failed'`, theUpload),
  ],
  [
    'an upload that did not fail has no code',
    'uploads_failure_names_its_code',
    broken('uploads', `error_code = 'decode_failed'`, theUpload),
  ],
  [
    'a ready upload names its file and revision',
    'uploads_ready_names_its_revision',
    broken('uploads', `status = 'ready', lease_until = null, ready_at = now()`, theProcessing),
  ],
  [
    'a ready upload names a revision that exists',
    'uploads_ready_revision_exists',
    broken(
      'uploads',
      `status = 'ready', lease_until = null, ready_at = now(), file_id = 'file_x', revision = 1`,
      theProcessing,
    ),
  ],
  [
    'processing has a lease',
    'uploads_processing_is_leased',
    broken('uploads', 'lease_until = null', theProcessing),
  ],
  [
    'only processing has a lease',
    'uploads_processing_is_leased',
    broken('uploads', 'lease_until = now()', theUpload),
  ],
  [
    'accepted bytes were accepted at a time',
    'uploads_uploaded_at_a_time',
    broken('uploads', `status = 'uploaded'`, theUpload),
  ],
  [
    'a multipart upload has all of its parts',
    'uploads_multipart_whole',
    broken('uploads', 'part_count = 3', theUpload),
  ],
  [
    'a proxy upload has no parts',
    'uploads_multipart_whole',
    broken(
      'uploads',
      `mode = 'proxy', part_count = 3, part_size = 9, storage_upload_id = 'x'`,
      theUpload,
    ),
  ],
  ['a file slug has its shape', 'files_slug_shape', broken('files', `file_slug = 'Hero'`, theFile)],
  [
    'one live file has a slug',
    'files_one_live_slug',
    () => `insert into files (file_id, project_id, file_slug, revision)
      values ('${id('file')}', '${project.project_id}', 'hero.png', 1)`,
  ],
  [
    'a block names its author',
    'files_block_names_its_author',
    broken('files', `status = 'blocked'`, theFile),
  ],
  [
    'a deleted file was deleted at a time',
    'files_deleted_at_a_time',
    broken('files', `status = 'deleted'`, theFile),
  ],
  [
    'a file points at a revision that exists',
    'files_current_revision',
    broken('files', 'revision = 7', theFile),
  ],
  [
    'revisions have no gaps',
    'file_revisions_gapless',
    () => `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
        source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color)
      select file_id, 3, '${upload.upload_id}', 'gap', content_type, size_bytes, sha256,
        source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color
      from file_revisions where file_id = '${file.file_id}'`,
  ],
  [
    'an upload becomes one revision',
    'file_revisions_one_an_upload',
    () => `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
        source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color)
      select file_id, 2, upload_id, 'twice', content_type, size_bytes, sha256,
        source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color
      from file_revisions where file_id = '${file.file_id}'`,
  ],
  [
    'a published revision cannot be removed from under its upload and file',
    'uploads_ready_revision_exists',
    () => `delete from file_revisions where file_id = '${file.file_id}'`,
  ],
  [
    'opacity is a percentage',
    'watermark_presets_opacity_check',
    inProject('watermark_presets', 'opacity = 101'),
  ],
  [
    'names of presets are unique in a project',
    'watermark_presets_name_taken',
    () => `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
      values ('${id('wm')}', '${project.project_id}', 'logo', '${file.file_id}')`,
  ],
  [
    'names of recipes are unique in a project',
    'recipes_name_taken',
    () => `insert into recipes (recipe_id, project_id, name, transform_chain)
      values ('${id('rcp')}', '${project.project_id}', 'hero', 'resize/1x1'),
             ('${id('rcp')}', '${project.project_id}', 'hero', 'resize/2x2')`,
  ],
  [
    'bytes are doomed once',
    'doomed_objects_once',
    () => `insert into doomed_objects (bucket, object_key, delete_after)
      select 'content', 'same', now() from generate_series(1, 2)`,
  ],
  [
    'a webhook body is at most 2 KB',
    'webhook_deliveries_body_bounded',
    () => `insert into webhook_deliveries (delivery_id, project_id, event, url, body)
      values ('e:1', '${project.project_id}', 'e', 'https://a.example', repeat('x', 2049))`,
  ],
  [
    'a webhook has at most ten attempts',
    'webhook_deliveries_ten_attempts',
    () => `insert into webhook_deliveries (delivery_id, project_id, event, url, body, attempt)
      values ('e:1', '${project.project_id}', 'e', 'https://a.example', '{}', 11)`,
  ],
  [
    'an event has one webhook row',
    'webhook_deliveries_pkey',
    () => `insert into webhook_deliveries (delivery_id, project_id, event, url, body)
      select 'e:1', '${project.project_id}', 'e', 'https://a.example', '{}' from generate_series(1, 2)`,
  ],
  [
    'a piece of a spool counts once',
    'usage_batches_once',
    () => `insert into usage_batches (spool_id, sequence) values ('spl', 1), ('spl', 1)`,
  ],
  [
    'a charge is written once for each project, day and run',
    'ledger_once_a_run',
    () => `insert into ledger (organization_id, project_id, day, run, delta, charged_credits)
      select '${project.organization_id}', '${project.project_id}', '2026-01-01', 'r', 5, 5
      from generate_series(1, 2)`,
  ],
  [
    'a ledger entry says something',
    'ledger_says_something',
    () => `insert into ledger (organization_id, project_id, day, run, delta, charged_credits)
      values ('${project.organization_id}', '${project.project_id}', '2026-01-01', 'r', 0, 5)`,
  ],
  [
    'a job runs one at a time',
    'job_runs_one_at_a_time',
    () => `insert into job_runs (job, scheduled_for, lease_until)
      select 'upload-sweep', now(), now() from generate_series(1, 2)`,
  ],
  [
    'an API key knows its scopes',
    'api_keys_scopes_known',
    () => `insert into api_keys (key_id, project_id, name, scopes, secret_sha256, prefix, last_four)
      values ('${id('key')}', '${project.project_id}', 'k', '{files:everything}', '${'0'.repeat(64)}', 'tin', 'abcd')`,
  ],
];

describe('the schema holds, whatever the code does, that', () => {
  it.each(attempts)('%s', async (_promise, constraint, statement) => {
    const failure = await db.transaction((tx) => tx.query(statement())).catch((error) => error);
    expect(failure).toBeInstanceOf(ConstraintViolation);
    expect(must<ConstraintViolation>(failure).constraint).toBe(constraint);
  });

  it('the reservation of an upload is its size until it ends, and cannot be written', async () => {
    expect(upload.reserved_bytes).toBe(upload.size_bytes);
    await expect(
      db.query(`update uploads set reserved_bytes = 1 where ${theUpload()}`),
    ).rejects.toThrow('can only be updated to DEFAULT');
  });
});
