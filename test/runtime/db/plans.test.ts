// Frequent statements use indexes, however large the tables are, according to the planner for the statements that are
// really sent. Spec: Metering; Webhook delivery attempt; Delivery host.
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../runtime/db/client.ts';
import { listUploadContents } from '../../../runtime/db/content-owners.ts';
import { findDeclaredSigningKey } from '../../../runtime/db/declared-rows.ts';
import { findDeliveryFile, findDeliveryProject } from '../../../runtime/db/delivery-lookups.ts';
import { upsertDerivedReads } from '../../../runtime/db/derived-reads.ts';
import { updateFilesErased, updateUploadsErased } from '../../../runtime/db/erased-rows.ts';
import {
  countFailedJobRuns,
  findFirstRunTime,
  listDoneJobRuns,
  listTimesNotRun,
  updateRunsAhead,
} from '../../../runtime/db/job-runs.ts';
import { insertLedgerEntry } from '../../../runtime/db/ledger.ts';
import { countOverQuota } from '../../../runtime/db/organizations.ts';
import { claimPurges, countPurgesWaiting } from '../../../runtime/db/purges.ts';
import { acquireRenderLease, updateRenderLeaseStored } from '../../../runtime/db/render-leases.ts';
import {
  claimChecks,
  countChecksUnreviewed,
  countChecksWaiting,
} from '../../../runtime/db/scan-claims.ts';
import { listChecks } from '../../../runtime/db/scanner-checks.ts';
import { findNextMark } from '../../../runtime/db/sweep-positions.ts';
import { listClaimableUploads } from '../../../runtime/db/upload-processing.ts';
import {
  listLiveIngestKeys,
  listLiveMultiparts,
  listOpenUploads,
  listUploads,
} from '../../../runtime/db/uploads.ts';
import { countUploadsWaiting } from '../../../runtime/db/uploads-waiting.ts';
import { insertUsageBatch, listHoursTouched } from '../../../runtime/db/usage-batches.ts';
import { foldUsageDay } from '../../../runtime/db/usage-days.ts';
import {
  foldUsageHours,
  listProjectsWithUsage,
  listUsageHours,
  listWithUsage,
} from '../../../runtime/db/usage-hours.ts';
import {
  claimWebhooks,
  listWebhookAttempts,
  recordWebhookAttempt,
} from '../../../runtime/db/webhook-attempts.ts';
import {
  areWebhooksStuck,
  countWebhookDeliveries,
  insertWebhookDeliveries,
  listWebhookDeliveries,
} from '../../../runtime/db/webhook-deliveries.ts';
import { useDatabase } from '../../support/database.ts';
import { listIndexesRead, listTablesScanned, noting } from '../../support/explaining.ts';
import { makeOrganization } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
const HOUR_MS = 3_600_000;
/** Counts back from the last midnight (UTC), so that usage covers whole days at any time of day. */
const hour = (ago: number) =>
  new Date((Math.floor(Date.now() / HOUR_MS / 24) * 24 - ago) * HOUR_MS);
const today = hour(0).toISOString().slice(0, 10);
const project_id = `prj_${'1'.padStart(26, '0')}`;
const delivery_id = 'webhook.test:7';
let organization_id = '';

/**
 * A year of a busy installation, scaled down: ten thousand projects, a tenth of them busy, and
 * about ten thousand rows per table.
 */
beforeAll(async () => {
  ({ organization_id } = await makeOrganization(db));
  const id = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`;
  const some = 'from generate_series(1, 20000) n';
  const project = id('prj', 'n % 1000 + 1');
  const fill = [
    `insert into organizations (organization_id, name, quota_exceeded_at)
     select ${id('org', 'n')}, 'o', case when n % 100 = 0 then now() end from generate_series(1, 10000) n`,
    `insert into projects (project_id, organization_id, project_slug, name, callback_url, callback_secret_sealed)
     select ${id('prj', 'n')}, '${organization_id}', 'p' || n, 'p', 'https://hook' || n || '.example/', 'x'
     from generate_series(1, 10000) n`,
    `insert into project_domains (domain, project_id, position) select 'd' || n || '.example', ${id('prj', 'n')}, 1
       from generate_series(1, 1000) n`,
    `insert into signing_keys (kid, project_id, secret_sealed, owner_uid, owner_namespace, owner_name)
       select ${id('kid', 'n')}, ${id('prj', 'n')}, 'x', 'u' || n, 'shops', 'p' || n
       from generate_series(1, 1000) n`,
    `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position, deleted_at)
       select ${id('file', 'n')}, ${project}, 'f' || n, 'deleted', 1, 0, n, now() ${some}`,
    `insert into render_leases (derived_key, lease_id, expires_at) select 'k' || n, 'l', now() + interval '1 h' ${some}`,
    `insert into derived_reads (derived_key, read_on) select 'k' || n, current_date - 3 ${some}`,
    `insert into purges (project_id, reason, sent_at) select ${project}, 'x', now() ${some}`,
    `insert into purges (project_id, reason, attempt, run_after)
       select ${project}, 'x', abs(n % 2), now() + n * interval '1 minute' from generate_series(-20, 200) n`,
    `select add_usage_day((now() at time zone 'UTC')::date - n) from generate_series(1, 14) n`,
    `insert into usage_batches (spool_id, sequence, received_at, hours)
       select 's', n, received_at, array[date_trunc('hour', received_at, 'UTC')]
       from generate_series(1, 20000) n, lateral (select '${hour(0).toISOString()}'::timestamptz - n * interval '1 minute' as received_at) batch`,
    `insert into usage_batch_rows (batch_id, project_id, window_start, requests, bytes, transforms, credits)
       select batch_id, ${id('prj', 'batch_id % 1000 + 1 - m')}, hours[1], 1, 1, 0, 1 from usage_batches,
       generate_series(0, 2) m where batch_id % 1000 + 1 > m`,
    `insert into usage_hours (project_id, window_start, requests, bytes, transforms, credits)
       select project_id, window_start, 1, 1, 0, 1 from usage_batch_rows group by 1, 2`,
    `insert into ledger (organization_id, project_id, day, run, delta, charged_credits)
       select '${organization_id}', ${project}, current_date - n / 1000 - 1, 'r', 1, 1 ${some}`,
    `insert into webhook_deliveries (delivery_id, project_id, event, url, body, status, next_attempt_at, delivered_at, created_at)
       select 'webhook.test:' || n, ${project}, 'webhook.test', 'https://hook.example/', '{}',
         case when n % 100 = 7 then 'pending' else 'delivered' end, case when n % 100 = 7 then now() end,
         case when n % 100 <> 7 then now() end, now() - n * interval '1 minute' ${some}`,
    `insert into webhook_attempts (delivery_id, attempt_number, asked_by, started_at, duration_ms)
       select delivery_id, 1, 'schedule', now(), 5 from webhook_deliveries`,
    `insert into uploads (upload_id, project_id, file_slug, status, mode, content_type, size_bytes, ingest_key, error_code,
         expires_at, uploaded_at, created_at, attempt, lease_until)
       select ${id('upl', 'n')}, ${project}, 'f' || n, status, 'direct', 'image/png', 1, 'k' || n,
         case status when 'expired' then 'session_expired' end, now(), now(), now() - n * interval '1 minute', 1,
         case status when 'processing' then now() end
       ${some}, lateral (select case n % 200 when 7 then 'created' when 8 then 'uploaded' when 9 then 'processing'
         else 'expired' end as status) at`,
    `insert into scanner_checks (check_id, project_id, file_id, revision, status, flags)
       select ${id('chk', 'n')}, ${project}, ${id('file', 'n')}, 1,
         case when n % 100 = 0 then 'queued' when n % 100 = 1 then 'flagged' else 'clear' end,
         case when n % 100 = 1 then array['nudity'] else '{}' end ${some}`,
    `insert into job_runs (job, scheduled_for, lease_until, started_at, finished_at, outcome)
       select 'upload-sweep', now(), now(), now() - n * interval '1 minute', now(), 'done' ${some}`,
  ];
  await db.transaction(async (tx) => {
    // The rows are consistent: skip triggers and foreign keys.
    await tx.query('set local session_replication_role = replica');
    for (const text of fill) await tx.query(text);
  });
  // As in databases with a linguistic collation, where indexes cannot serve prefix searches.
  await db.query('alter table webhook_deliveries alter delivery_id type text collate "und-x-icu"');
  await db.query('analyze');
}, 300_000);

const sums = { requests: 1, bytes: 1, transforms: 0, credits: 1 };
const page = { limit: 20, after: null };
const attempt = { started_at: new Date(), duration_ms: 1, response_status: 204 };

const upload_id = `upl_${'7'.padStart(26, '0')}`;

const asked: [what: string, ask: (noted: Database) => Promise<unknown>][] = [
  ['the project of a slug', (noted) => findDeliveryProject(noted, { project_slug: 'p77' })],
  ['the project of a domain', (noted) => findDeliveryProject(noted, { domain: 'd77.example' })],
  [
    'the key of a SigningKey resource',
    (noted) => findDeclaredSigningKey(noted, { owner_uid: 'u777' }),
  ],
  ['a file of a delivery', (noted) => findDeliveryFile(noted, { project_id, file_slug: 'f1000' })],
  [
    'the lease of a render',
    (noted) => acquireRenderLease(noted, { derived_key: 'new', lease_id: 'l', lease_seconds: 9 }),
  ],
  [
    'the end of a render',
    (noted) => updateRenderLeaseStored(noted, { derived_key: 'k7', told_seconds: 9 }),
  ],
  ['reads of derived images', (noted) => upsertDerivedReads(noted, ['k7', 'k8'])],
  [
    'a batch of usage',
    (noted) =>
      insertUsageBatch(noted, {
        ...{ spool_id: 'new', sequence: 1 },
        entries: [{ project_id, window_start: hour(0), ...sums }],
      }),
  ],
  [
    'the hours that changed since a run of the rollup',
    async (noted) => {
      const [newest] = await db.query<{ id: number }>(
        'select max(batch_id) as id from usage_batches',
      );
      const until = newest?.id ?? 0;
      const mark = { batch_id: until - 10, at: hour(1) };
      await findNextMark(noted, { mark, limit: 50_000 });
      return listHoursTouched(noted, { mark, until, from: hour(24 * 30) });
    },
  ],
  ['an hour of the rollup', (noted) => foldUsageHours(noted, [hour(2)])],
  [
    'the projects of the daily charge',
    (noted) => listProjectsWithUsage(noted, { from: hour(72), to: hour(0), after: '', limit: 100 }),
  ],
  [
    'the nights of long ago that have usage',
    (noted) =>
      listWithUsage(
        noted,
        Array.from({ length: 900 }, (_, day) => ({
          ...{ at: hour(day * 24), from: hour(day * 24 + 72), to: hour(day * 24) },
        })),
      ),
  ],
  [
    'the hours of a charge',
    (noted) => listUsageHours(noted, { project_ids: [project_id], from: hour(72), to: hour(0) }),
  ],
  [
    'a day of a charge',
    (noted) =>
      noted.transaction((tx) =>
        foldUsageDay(tx, { project_id, day: today, charged_credits: 1, hours_closed: 3 }),
      ),
  ],
  [
    'an entry of the ledger',
    (noted) =>
      noted.transaction((tx) =>
        insertLedgerEntry(tx, {
          ...{ organization_id, project_id, day: today, run: 'new', charged_credits: 5 },
        }),
      ),
  ],
  [
    'an event',
    (noted) =>
      noted.transaction((tx) =>
        insertWebhookDeliveries(tx, [
          {
            ...{ delivery_id: 'new', project_id, event: 'webhook.test', body: '{}' },
            created_at: new Date(),
          },
        ]),
      ),
  ],
  [
    'how often an event was told',
    (noted) => noted.transaction((tx) => countWebhookDeliveries(tx, delivery_id)),
  ],
  [
    'webhooks that are due',
    (noted) =>
      claimWebhooks(noted, {
        ...{ limit: 9, rooms: new Map(), host_rooms: new Map(), host_max: 9, lease_seconds: 30 },
        ...{ slow: [project_id], slow_limit: 4 },
      }),
  ],
  [
    'the end of an attempt',
    (noted) =>
      recordWebhookAttempt(noted, {
        ...{
          delivery_id,
          asked_by: 'schedule',
          resend_at: null,
          lease_until: new Date(),
          ...attempt,
        },
        ...{ response_excerpt: null, error: null, retry_seconds: null },
      }),
  ],
  ['webhooks that nobody sends', (noted) => areWebhooksStuck(noted, 60)],
  [
    'a page of deliveries of webhooks',
    (noted) => listWebhookDeliveries(noted, { ...page, project_id, event: null, status: null }),
  ],
  [
    'a page of those that were abandoned',
    (noted) =>
      listWebhookDeliveries(noted, {
        ...page,
        ...{ project_id, event: 'webhook.test', status: 'abandoned' },
      }),
  ],
  ['attempts of a page', (noted) => listWebhookAttempts(noted, [delivery_id, 'webhook.test:8'])],
  ['purges that are due', (noted) => claimPurges(noted, { limit: 20, lease_seconds: 60 })],
  ['how many purges wait', (noted) => countPurgesWaiting(noted)],
  ['revisions to scan', (noted) => claimChecks(noted, { limit: 4, lease_seconds: 60 })],
  ['how many revisions wait', (noted) => countChecksWaiting(noted)],
  ['how many wait for moderators', (noted) => countChecksUnreviewed(noted)],
  ['how many organizations are over quota', (noted) => countOverQuota(noted)],
  [
    'the queue of moderators',
    (noted) =>
      listChecks(noted, {
        ...page,
        ...{ status: 'flagged', review: 'unreviewed', flag: null, project_slug: null },
      }),
  ],
  ['uploads whose doorbell rings again', (noted) => listClaimableUploads(noted, 100)],
  [
    'uploads that wait for bytes',
    (noted) => listOpenUploads(noted, { after: '', limit: 100, min_age_seconds: 30 }),
  ],
  ['how many uploads wait', (noted) => countUploadsWaiting(noted)],
  ['bytes that an upload needs', (noted) => listLiveIngestKeys(noted, ['k7', 'none'])],
  ['parts that an upload needs', (noted) => listLiveMultiparts(noted, ['k7', 'none'])],
  ['masters that an upload needs', (noted) => listUploadContents(noted, [upload_id])],
  ['a page of uploads', (noted) => listUploads(noted, { ...page, project_id, status: null })],
  ['deleted files to erase', (noted) => updateFilesErased(noted, 30 * 24 * 3600)],
  ['ended uploads to erase', (noted) => updateUploadsErased(noted, 30 * 24 * 3600)],
  ['since when jobs run', (noted) => findFirstRunTime(noted)],
  [
    'when a job did not run',
    (noted) => listTimesNotRun(noted, { job: 'daily-charge', times: [new Date()] }),
  ],
  ['runs of a job that are dated ahead', (noted) => updateRunsAhead(noted, 'upload-sweep')],
  ['how often jobs failed', (noted) => countFailedJobRuns(noted, ['upload-sweep', 'retention'])],
  ['what jobs did last', (noted) => listDoneJobRuns(noted, ['upload-sweep', 'retention'])],
];

it.each(asked)('the query for %s scans no large table in full', async (_what, ask) => {
  const { db: noted, statements } = noting(db);
  await ask(noted);
  expect(statements.length).toBeGreaterThan(0);
  const big = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and reltuples >= 1000`,
  );
  for (const statement of statements) {
    const scanned = await listTablesScanned(db, statement);
    const wrong = scanned.filter((table) => big.some(({ name }) => name === table));
    expect(wrong, statement.text).toEqual([]);
  }
});

it.each([
  ['state', { event: null, status: 'abandoned' } as const, 'webhook_deliveries_of_status'],
  ['event', { event: 'file.blocked', status: null }, 'webhook_deliveries_of_event'],
])(
  'webhook deliveries of a rare %s are found through its index only',
  async (_, filters, index) => {
    const { db: noted, statements } = noting(db);
    await listWebhookDeliveries(noted, { ...page, project_id, ...filters });
    for (const statement of statements)
      expect(await listIndexesRead(db, statement)).toEqual([index]);
  },
);
