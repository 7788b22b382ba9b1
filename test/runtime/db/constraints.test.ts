import { beforeAll, describe, expect, it } from 'vitest';
import { ConstraintViolation } from '../../../runtime/db/failures.ts';
import type { FileRow } from '../../../runtime/db/files.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { insertSigningKey } from '../../../runtime/db/signing-keys.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import type { UploadRow } from '../../../runtime/db/uploads.ts';
import { upsertWatermarkPreset } from '../../../runtime/db/watermark-presets.ts';
import { useDatabase } from '../../support/database.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
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
  await db.query(newLibrary(project, 'press', libraryId));
  await db.query(newLibrary(other, 'press', foreignLibraryId));
});

/** An update that sets a column of an existing row to a forbidden value. */
const broken = (table: string, set: string, where: () => string) => () =>
  `update ${table} set ${set} where ${where()}`;
const theProject = () => `project_id = '${project.project_id}'`;
const theUpload = () => `upload_id = '${upload.upload_id}'`;
const theProcessing = () => `upload_id = '${processing.upload_id}'`;
const theFile = () => `file_id = '${file.file_id}'`;
const theOrganization = () => `organization_id = '${project.organization_id}'`;
const inProject = (table: string, set: string) => broken(table, set, theProject);

const libraryId = id('lib');
const foreignLibraryId = id('lib');
const theLibrary = () => `library_id = '${libraryId}'`;
const newLibrary = ({ project_id }: ProjectRow, slug: string, library_id = id('lib')) =>
  `insert into libraries (library_id, project_id, library_slug, name)
   values ('${library_id}', '${project_id}', '${slug}', 'Press')`;

const newCheck = (set: { status?: string; review?: string }) => () =>
  `insert into scanner_checks (check_id, project_id, file_id, revision, status, review)
   values ('${id('chk')}', '${project.project_id}', '${file.file_id}', 1, ${set.status ?? `'clear'`},
     ${set.review ?? `'unreviewed'`})`;
const newIncident = (set: { services?: string; ended_at?: string }) => () =>
  `insert into incidents (incident_id, title, services, severity, body, automatic, started_at, ended_at)
   values ('${id('inc')}', 'Down', '${set.services ?? '{api}'}', 'major', '', true, now(),
     ${set.ended_at === undefined ? 'null' : `'${set.ended_at}'`})`;

/** A copy of the file's revision, with these columns changed. */
const revision = (set: { revision: number; upload_id: string; object_key: string }) => () =>
  `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
     source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color)
   select file_id, ${set.revision}, ${set.upload_id}, '${set.object_key}', content_type, size_bytes, sha256,
     source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color
   from file_revisions where ${theFile()}`;

const newProject = (
  slug: string,
) => `insert into projects (project_id, organization_id, project_slug, name)
  values ('${id('prj')}', '${project.organization_id}', '${slug}', 'Shop')`;

const newApiKey = (columns: string, values: string) => () =>
  `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four, ${columns})
   values ('${id('key')}', '${project.project_id}', 'k', '${'0'.repeat(64)}', 'tin', 'abcd', ${values})`;

const webhookDefaults = { event: `'upload.ready'`, body: `'{}'` };

/** A pending webhook delivery, with defaults for the columns that are not given. */
function newWebhook(columns: string, values: string): () => string {
  const rest = Object.entries(webhookDefaults).filter(([column]) => !columns.includes(column));
  const names = rest.map(([column]) => `, ${column}`).join('');
  const filled = rest.map(([, value]) => `, ${value}`).join('');
  return () => `insert into webhook_deliveries (delivery_id, project_id, url, ${columns}${names})
    values ('e:1', '${project.project_id}', 'https://a.example', ${values}${filled})`;
}

const newLedgerEntry = (set: { organization_id: () => string; numbers: string }) => () =>
  `insert into ledger (organization_id, project_id, day, run, delta, charged_credits)
   values ('${set.organization_id()}', '${project.project_id}', '2026-01-01', 'r', ${set.numbers})`;

/** Rows for the three usage tables; `numbers` are requests, transforms and credits. */
const usage = (numbers: string) => ({
  usage_hours: () =>
    `insert into usage_hours (project_id, window_start, requests, transforms, credits, bytes)
     values ('${project.project_id}', '2026-01-01T10:00Z', ${numbers}, 1)`,
  usage_days: () =>
    `insert into usage_days (project_id, day, requests, transforms, credits, bytes, charged_credits, hours_closed)
     values ('${project.project_id}', '2026-01-01', ${numbers}, 1, 0, 3)`,
  usage_batch_rows: () =>
    `with batch as (insert into usage_batches (spool_id, sequence) values ('one', 1) returning batch_id)
     insert into usage_batch_rows (batch_id, project_id, window_start, requests, transforms, credits, bytes)
     select batch_id, '${project.project_id}', '2026-01-01T10:00Z', ${numbers}, 1 from batch`,
});
const moreTransforms = usage('1, 2, 9');
const tooFewCredits = usage('2, 0, 1');

const attempts: [promise: string, constraint: string, statement: () => string][] = [
  ['a project slug is unique', 'projects_slug_taken', () => newProject('blog')],
  ['a project slug is a DNS label', 'projects_slug_shape', () => newProject('a_b')],
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
    'a subscription has one of its statuses',
    'subscriptions_status_known',
    () => `insert into subscriptions (provider, subscription_id, organization_id, plan, status, changed_at)
      values ('b', 'sub_1', '${project.organization_id}', 'starter', 'paused', now())`,
  ],
  [
    'one subscription of an organization runs',
    'subscriptions_one_running',
    () => `insert into subscriptions (provider, subscription_id, organization_id, plan, status, changed_at)
      select 'b', 'sub_' || n, '${project.organization_id}', 'starter', status, now()
      from unnest(array['active', 'scheduled_cancel']) with ordinality as t (status, n)`,
  ],
  [
    'an upload that failed names its code',
    'uploads_failure_names_its_code',
    broken('uploads', `status = 'failed'`, theUpload),
  ],
  [
    'refused bytes are recorded with their digest',
    'uploads_refused_whole',
    broken('uploads', `refused_etag = 'e'`, theUpload),
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
    'an upload with accepted bytes has the time of acceptance',
    'uploads_uploaded_at_a_time',
    broken('uploads', `status = 'uploaded'`, theUpload),
  ],
  [
    'a stored response has a status and a body',
    'idempotency_keys_answer_whole',
    () =>
      `insert into idempotency_keys
         (caller, project_slug, idempotency_key, request_hash, claim_id, lease_until, status)
       values ('c', '', 'k', decode(repeat('00', 32), 'hex'), 'x', now(), 200)`,
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
  [
    'a file slug has a valid shape',
    'files_slug_shape',
    broken('files', `file_slug = 'Hero'`, theFile),
  ],
  [
    'the slug of a live file is unique in its project',
    'files_one_live_slug',
    () => `insert into files (file_id, project_id, file_slug, revision, size_bytes)
      values ('${id('file')}', '${project.project_id}', 'hero.png', 1, 1000)`,
  ],
  [
    'a block names its author',
    'files_block_names_its_author',
    broken('files', `status = 'blocked'`, theFile),
  ],
  [
    'a deleted file has its time of deletion',
    'files_deleted_at_a_time',
    broken('files', `status = 'deleted'`, theFile),
  ],
  [
    'an erased file is deleted and holds no personal data',
    'files_erased',
    broken('files', 'erased_at = now()', theFile),
  ],
  [
    'a file points at a revision that exists',
    'files_current_revision',
    broken('files', 'revision = 7', theFile),
  ],
  [
    'revisions have no gaps',
    'file_revisions_gapless',
    () => revision({ revision: 3, upload_id: `'${upload.upload_id}'`, object_key: 'gap' })(),
  ],
  [
    'an upload becomes one revision',
    'file_revisions_one_an_upload',
    revision({ revision: 2, upload_id: 'upload_id', object_key: 'twice' }),
  ],
  [
    'a published revision cannot be deleted while its upload and file refer to it',
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
    'an object is scheduled for deletion once',
    'doomed_objects_once',
    () => `insert into doomed_objects (bucket, object_key, delete_after)
      select 'content', 'same', now() from generate_series(1, 2)`,
  ],
  [
    'a webhook body is at most 2 KB',
    'webhook_deliveries_body_bounded',
    newWebhook(`body`, `repeat('x', 2001)`),
  ],
  [
    'a webhook has at most ten attempts',
    'webhook_deliveries_ten_attempts',
    newWebhook(`status, attempt`, `'retry scheduled', 11`),
  ],
  [
    'a webhook that waits for its first attempt has attempts left',
    'webhook_deliveries_pending_has_attempts_left',
    newWebhook(`attempt`, `10`),
  ],
  [
    'a webhook is of a known event',
    'webhook_deliveries_event_known',
    newWebhook(`event`, `'upload.done'`),
  ],
  [
    'a waiting webhook has a due time',
    'webhook_deliveries_due_while_open',
    newWebhook(`next_attempt_at`, `null`),
  ],
  [
    'an ended webhook has no due time',
    'webhook_deliveries_due_while_open',
    newWebhook(`status`, `'abandoned'`),
  ],
  [
    'a delivered webhook has its time of delivery',
    'webhook_deliveries_delivered_at_a_time',
    newWebhook(`status, next_attempt_at`, `'delivered', null`),
  ],
  [
    'an event has one webhook row',
    'webhook_deliveries_pkey',
    () => `${newWebhook('attempt', '0')()}, ${newWebhook('attempt', '0')().split('values ')[1]}`,
  ],
  [
    'a batch of a spool is counted once',
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
    'an API key has only known scopes',
    'api_keys_scopes_known',
    newApiKey('scopes', `'{files:everything}'`),
  ],
  [
    'a revoked API key has its time of revocation',
    'api_keys_revoked_at_a_time',
    newApiKey('status', `'revoked'`),
  ],
  [
    'at most 100 API keys of a project are active',
    'api_keys_at_most_100_active',
    () => `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four)
      select 'key_' || lpad(n::text, 26, '0'), '${project.project_id}', 'k', lpad(n::text, 64, '0'), 'tin', 'abcd'
      from generate_series(1, 101) n`,
  ],
  [
    'file_count, storage_bytes and reserved_bytes change only with files and uploads',
    'projects_counters_agree',
    inProject('projects', 'reserved_bytes = reserved_bytes + 1, storage_bytes = storage_bytes + 1'),
  ],
  [
    'a new project has nothing counted',
    'projects_counters_agree',
    () => newProject('full').replace('name)', 'name, file_count)').replace(`'Shop')`, `'Shop', 1)`),
  ],
  [
    'a file is counted until it is deleted',
    'files_counters_agree',
    broken('files', `status = 'deleted', deleted_at = now()`, theFile),
  ],
  [
    'an upload is reserved until it ends',
    'uploads_counters_agree',
    broken('uploads', `status = 'expired', error_code = 'session_expired'`, theUpload),
  ],
  [
    'storage that one project frees is not added to another',
    'projects_counters_agree',
    () => `update projects set reserved_bytes = reserved_bytes
        + case project_id when '${project.project_id}' then -5 else 5 end
      where project_id in ('${project.project_id}', '${other.project_id}')`,
  ],
  [
    'a revision has the size that its file counts',
    'files_current_revision',
    () => `with counted as (update projects set storage_bytes = storage_bytes - 1 where ${theProject()})
      update files set size_bytes = size_bytes - 1 where ${theFile()}`,
  ],
  [
    'a project slug never changes',
    'projects_slug_fixed',
    inProject('projects', `project_slug = 'shop-2'`),
  ],
  [
    'a project has at most 32 resolution presets',
    'projects_at_most_32_resolution_presets',
    inProject(
      'projects',
      `resolution_presets = (select jsonb_object_agg('p' || n, 'resize/1x1') from generate_series(1, 33) n)`,
    ),
  ],
  [
    'a resource declares one project',
    'projects_owner_uid_taken',
    () => `update projects set owner_uid = 'u', owner_namespace = 'n', owner_name = 'x', owner_deletion_policy = 'retain'
      where project_id in ('${project.project_id}', '${other.project_id}')`,
  ],
  [
    'the owner of a project has all of its fields',
    'projects_owner_whole',
    inProject('projects', `owner_uid = 'u'`),
  ],
  [
    'the owner of a signing key has all of its fields',
    'signing_keys_owner_whole',
    inProject('signing_keys', `owner_uid = 'u'`),
  ],
  [
    'the owner of a watermark preset has all of its fields',
    'watermark_presets_owner_whole',
    inProject('watermark_presets', `owner_uid = 'u'`),
  ],
  [
    'the owner of a recipe has all of its fields',
    'recipes_owner_whole',
    () => `insert into recipes (recipe_id, project_id, name, transform_chain, owner_uid)
      values ('${id('rcp')}', '${project.project_id}', 'hero', 'resize/1x1', 'u')`,
  ],
  [
    'each custom domain has its own place in the list of 32',
    'project_domains_at_most_32',
    () => `insert into project_domains (domain, project_id, position)
      select 'd' || n || '.example', '${project.project_id}', 7 from generate_series(1, 2) n`,
  ],
  ...['.a.example', '-a.example', 'a-.example', 'a..example', 'A.example', 'example'].map(
    (domain): (typeof attempts)[number] => [
      `${domain} is no custom domain`,
      'project_domains_shape',
      () => `insert into project_domains (domain, project_id, position)
        values ('${domain}', '${project.project_id}', 1)`,
    ],
  ),
  [
    'an exemption ends after its start',
    'organization_exemptions_end_after_start',
    () =>
      `insert into organization_exemptions values ('${project.organization_id}', now(), now() - interval '1 hour')`,
  ],
  [
    'exemptions of an organization do not overlap',
    'organization_exemptions_apart',
    () => `insert into organization_exemptions values
      ('${project.organization_id}', '2026-01-01', '2026-01-03'), ('${project.organization_id}', '2026-01-02', null)`,
  ],
  [
    'an upload has a valid file slug',
    'uploads_slug_shape',
    broken('uploads', `file_slug = 'Hero'`, theUpload),
  ],
  [
    'each position in the order of files belongs to one file',
    'files_in_order',
    () =>
      `insert into files (file_id, project_id, file_slug, revision, size_bytes, position)
       values ('${id('file')}', '${project.project_id}', 'second.png', 1, 1, ${file.position})`,
  ],
  [
    'a moderation note has a valid file slug',
    'moderation_notes_slug_shape',
    () =>
      `insert into moderation_notes (project_id, file_slug, note, author)
       values ('${project.project_id}', 'Hero', 'look', 'user')`,
  ],
  [
    'an upload fails with a known code',
    'uploads_error_code_known',
    broken('uploads', `status = 'failed', error_code = 'mystery'`, theUpload),
  ],
  [
    'an upload stays in its project',
    'uploads_project_fixed',
    () => `update uploads set project_id = '${other.project_id}' where ${theUpload()}`,
  ],
  [
    'an upload that has ended never changes its state again',
    'uploads_ended_for_good',
    () => `update uploads set status = 'processing', lease_until = now(), ready_at = null, file_id = null, revision = null
      where ${theFile()}`,
  ],
  [
    'a file stays in its project',
    'files_project_fixed',
    () => `update files set project_id = '${other.project_id}' where ${theFile()}`,
  ],
  [
    'a block has an author and a time',
    'files_block_whole',
    broken('files', `status = 'blocked', blocked_by = 'staff'`, theFile),
  ],
  [
    'a location has both coordinates',
    'files_location_whole',
    broken('files', 'latitude = 1', theFile),
  ],
  [
    'a watermark is a file of the same project',
    'watermark_presets_file_in_project',
    () => `insert into watermark_presets (watermark_preset_id, project_id, name, file_id)
      values ('${id('wm')}', '${other.project_id}', 'logo', '${file.file_id}')`,
  ],
  [
    'an object scheduled for deletion names a file and its revision, or neither',
    'doomed_objects_revision_whole',
    () => `insert into doomed_objects (bucket, object_key, delete_after, file_id)
      values ('content', 'half', now(), '${file.file_id}')`,
  ],
  ...(['usage_hours', 'usage_days', 'usage_batch_rows'] as const).flatMap(
    (table): typeof attempts => [
      [
        `transforms of ${table} are requests`,
        `${table}_transforms_are_requests`,
        moreTransforms[table],
      ],
      [`requests of ${table} cost credits`, `${table}_requests_cost_credits`, tooFewCredits[table]],
    ],
  ),
  [
    'a day is final when its 24 hours are closed',
    'usage_days_finalized_when_closed',
    () => usage('1, 0, 1').usage_days().replace('0, 3)', '0, 24)'),
  ],
  [
    'no more is refunded for a day than it cost',
    'ledger_from_nothing',
    newLedgerEntry({ organization_id: () => project.organization_id, numbers: '6, 5' }),
  ],
  [
    'a project is charged to its own organization',
    'ledger_of_the_projects_organization',
    newLedgerEntry({ organization_id: () => other.organization_id, numbers: '5, 5' }),
  ],
  ...(
    [
      ['has a known status', 'scanner_checks_status', { status: `'odd'` }],
      ['has a known review', 'scanner_checks_review', { review: `'odd'` }],
      ['is reviewed only if flagged', 'scanner_checks_reviewed', { review: `'approved'` }],
      ['is flagged for something', 'scanner_checks_flags', { status: `'flagged'` }],
    ] as const
  ).map(([promise, constraint, set]): (typeof attempts)[number] => [
    `a check ${promise}`,
    constraint,
    newCheck(set),
  ]),
  [
    'a revision has one check',
    'scanner_checks_once',
    () =>
      `${newCheck({})()}, ('${id('chk')}', '${project.project_id}', '${file.file_id}', 1, 'clear', 'unreviewed')`,
  ],
  ['an incident names at least one service', 'incidents_services', newIncident({ services: '{}' })],
  ['an incident ends after it began', 'incidents_end', newIncident({ ended_at: '2000-01-01' })],
  [
    'a service has one automatic incident at a time',
    'incidents_one_automatic',
    () => `${newIncident({})()}, ('${id('inc')}', 'Down', '{api}', 'major', '', true, now(), null)`,
  ],
  [
    'a library has a slug that fits into a path',
    'libraries_slug_shape',
    broken('libraries', `library_slug = 'Press'`, theLibrary),
  ],
  [
    'no library takes the name of the default one',
    'libraries_slug_shape',
    broken('libraries', `library_slug = 'default'`, theLibrary),
  ],
  ['a library has a name', 'libraries_name_length', broken('libraries', `name = ''`, theLibrary)],
  [
    'a library has at most 200 origins',
    'libraries_origins_count',
    broken(
      'libraries',
      `allowed_origins = array_fill('https://a.b'::text, array[201])`,
      theLibrary,
    ),
  ],
  [
    'the default library has at most 200 origins',
    'projects_library_origins_count',
    inProject('projects', `library_origins = array_fill('https://a.b'::text, array[201])`),
  ],
  [
    'the slug of a live library is unique in its project',
    'libraries_one_live_slug',
    () => newLibrary(project, 'press'),
  ],
  [
    'a file lies in a library of its own project',
    'files_library_of_project',
    broken('files', `library_id = '${foreignLibraryId}'`, theFile),
  ],
  [
    'an upload goes into a library of its own project',
    'uploads_library_of_project',
    broken('uploads', `library_id = '${foreignLibraryId}'`, theUpload),
  ],
  [
    'a term of the operator has a number',
    'operator_terms_epoch_counts',
    () => `insert into operator_terms (lease, epoch, holder) values ('a/b', 0, 'c')`,
  ],
  [
    'a run of a job ends with an outcome',
    'job_runs_ends_with_an_outcome',
    () => `insert into job_runs (job, scheduled_for, lease_until, finished_at)
      values ('upload-sweep', now(), now(), now())`,
  ],
];

// Excludes constraints with names generated by PostgreSQL, unique keys that contain the primary key
// (they exist only as targets of foreign keys, and cannot be violated on their own) and triggers
// that only record changes or fill columns.
const NAMED_RULES = `
  select conname::text as name from pg_constraint r
  where connamespace = 'public'::regnamespace and conrelid <> 0 and contype <> 't' and contype <> 'n'
    and conname !~ '_(check|fkey|key|pkey)[0-9]*$'
    and not (contype = 'u' and exists (
      select from pg_constraint p where p.conrelid = r.conrelid and p.contype = 'p' and p.conkey <@ r.conkey))
  union
  select i.relname::text from pg_index x join pg_class i on i.oid = x.indexrelid
  where i.relnamespace = 'public'::regnamespace and x.indisunique
    and not exists (select from pg_constraint where conindid = x.indexrelid)
  union
  select tgname::text from pg_trigger
  where not tgisinternal and tgfoid not in
    (select oid from pg_proc where starts_with(proname, 'note_') or proname in ('place_file', 'name_organization'))
  order by 1`;

describe('guarantees of the database schema', () => {
  it.each(attempts)('%s', async (_promise, constraint, statement) => {
    const failure = await db.transaction((tx) => tx.query(statement())).catch((error) => error);
    expect(failure).toBeInstanceOf(ConstraintViolation);
    expect(must<ConstraintViolation>(failure).constraint).toBe(constraint);
  });

  it('every named constraint, unique index and trigger is tested', async () => {
    const named = await db.query<{ name: string }>(NAMED_RULES);
    const attempted = new Set(attempts.map(([, constraint]) => constraint));
    expect(named.length).toBeGreaterThan(60);
    expect(named.map(({ name }) => name).filter((name) => !attempted.has(name))).toEqual([]);
  });

  it('of two concurrent transactions that together break a rule, one is rejected', async () => {
    const { organization_id, project_id } = await makeProject(db);
    const both = async (statement: (n: number) => string) => {
      const [done, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = db.transaction(async (tx) => {
        await tx.query(statement(1));
        done.resolve();
        await gate.promise;
      });
      await done.promise;
      const second = db.transaction((tx) => tx.query(statement(2)));
      const ended = Promise.allSettled([first, second]);
      await untilWaiting(db, 1);
      gate.resolve();
      return ended;
    };
    const refused = (ends: PromiseSettledResult<unknown>[]) =>
      ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.constraint] : []));
    const exemptions = await both(
      (n) => `insert into organization_exemptions values
        ('${organization_id}', '2026-01-0${n}', '2026-01-05')`,
    );
    expect(refused(exemptions)).toEqual(['organization_exemptions_apart']);
    const keys = await both(
      (n) => `insert into api_keys (key_id, project_id, name, secret_sha256, prefix, last_four)
        select 'key_' || lpad(${n} || 'x' || i, 26, '0'), '${project_id}', 'k', lpad(${n} || 'a' || i, 64, '0'), 't', 'abcd'
        from generate_series(1, 60) i`,
    );
    expect(refused(keys)).toEqual(['api_keys_at_most_100_active']);
  });

  it('counters may change in any order within a transaction if they agree at its end', async () => {
    const own = await makeProject(db);
    const { upload_id } = await makeUpload(db, own, { size_bytes: 70 });
    await db.transaction(async (tx) => {
      await tx.query('update projects set reserved_bytes = 0 where project_id = $1', [
        own.project_id,
      ]);
      await tx.query(
        `update uploads set status = 'expired', error_code = 'session_expired' where upload_id = $1`,
        [upload_id],
      );
    });
    const rows = await db.query(
      `select reserved_bytes, coalesce(current_setting('tintype.counters', true), '') as noted
       from projects where project_id = $1`,
      [own.project_id],
    );
    expect(rows).toEqual([{ reserved_bytes: 0, noted: '' }]);
  });

  it('the reservation of an upload is its size until it ends, then 0, and cannot be written', async () => {
    expect(upload.reserved_bytes).toBe(upload.size_bytes);
    await expect(
      db.query(`update uploads set reserved_bytes = 1 where ${theUpload()}`),
    ).rejects.toThrow('can only be updated to DEFAULT');
    const ended = await makeUpload(db, await makeProject(db), { size_bytes: 70 });
    const row = await db.transaction((tx) => updateUploadAborted(tx, ended.upload_id));
    expect([ended.reserved_bytes, row?.reserved_bytes]).toEqual([70, 0]);
  });
});
