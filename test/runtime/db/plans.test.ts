// Frequent statements use indexes, however large the tables are, according to the planner for the statements that are
// really sent. Spec: Metering; Webhook delivery attempt; Delivery host.

import { beforeAll, expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
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

const asked: [what: string, ask: (watched: Database) => Promise<unknown>][] = [
  ['the project of a slug', (watched) => findDeliveryProject(watched, { project_slug: 'p77' })],
  ['the project of a domain', (watched) => findDeliveryProject(watched, { domain: 'd77.example' })],
  [
    'the key of a SigningKey resource',
    (watched) => findDeclaredSigningKey(watched, { owner_uid: 'u777' }),
  ],
  [
    'a file of a delivery',
    (watched) => findDeliveryFile(watched, { project_id, file_slug: 'f1000' }),
  ],
  [
    'the lease of a render',
    (watched) =>
      acquireRenderLease(watched, { derived_key: 'new', lease_id: 'l', lease_seconds: 9 }),
  ],
  [
    'the end of a render',
    (watched) => updateRenderLeaseStored(watched, { derived_key: 'k7', told_seconds: 9 }),
  ],
  ['reads of derived images', (watched) => upsertDerivedReads(watched, ['k7', 'k8'])],
  [
    'a batch of usage',
    (watched) =>
      insertUsageBatch(watched, {
        ...{ spool_id: 'new', sequence: 1 },
        entries: [{ project_id, window_start: hour(0), ...sums }],
      }),
  ],
  [
    'the hours that changed since a run of the rollup',
    async (watched) => {
      const [newest] = await db.query<{ id: number }>(
        'select max(batch_id) as id from usage_batches',
      );
      const until = newest?.id ?? 0;
      const mark = { batch_id: until - 10, at: hour(1) };
      await findNextMark(watched, { mark, limit: 50_000 });
      return listHoursTouched(watched, { mark, until, from: hour(24 * 30) });
    },
  ],
  ['an hour of the rollup', (watched) => foldUsageHours(watched, [hour(2)])],
  [
    'the projects of the daily charge',
    (watched) =>
      listProjectsWithUsage(watched, { from: hour(72), to: hour(0), after: '', limit: 100 }),
  ],
  [
    'past nights that have usage',
    (watched) =>
      listWithUsage(
        watched,
        Array.from({ length: 900 }, (_, day) => ({
          ...{ at: hour(day * 24), from: hour(day * 24 + 72), to: hour(day * 24) },
        })),
      ),
  ],
  [
    'the hours of a charge',
    (watched) =>
      listUsageHours(watched, { project_ids: [project_id], from: hour(72), to: hour(0) }),
  ],
  [
    'a day of a charge',
    (watched) =>
      watched.transaction((tx) =>
        foldUsageDay(tx, { project_id, day: today, charged_credits: 1, hours_closed: 3 }),
      ),
  ],
  [
    'an entry of the ledger',
    (watched) =>
      watched.transaction((tx) =>
        insertLedgerEntry(tx, {
          ...{ organization_id, project_id, day: today, run: 'new', charged_credits: 5 },
        }),
      ),
  ],
  [
    'a new webhook',
    (watched) =>
      watched.transaction((tx) =>
        insertWebhookDeliveries(tx, [
          {
            ...{ delivery_id: 'new', project_id, event: 'webhook.test', body: '{}' },
            created_at: new Date(),
          },
        ]),
      ),
  ],
  [
    'how often an event was sent',
    (watched) => watched.transaction((tx) => countWebhookDeliveries(tx, delivery_id)),
  ],
  [
    'webhooks that are due',
    (watched) =>
      claimWebhooks(watched, {
        ...{ limit: 9, rooms: new Map(), host_rooms: new Map(), host_max: 9, lease_seconds: 30 },
        ...{ slow: [project_id], slow_limit: 4 },
      }),
  ],
  [
    'the end of an attempt',
    (watched) =>
      recordWebhookAttempt(watched, {
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
  ['whether webhooks are stuck', (watched) => areWebhooksStuck(watched, 60)],
  [
    'a page of webhook deliveries',
    (watched) => listWebhookDeliveries(watched, { ...page, project_id, event: null, status: null }),
  ],
  [
    'a page of abandoned webhook deliveries',
    (watched) =>
      listWebhookDeliveries(watched, {
        ...page,
        ...{ project_id, event: 'webhook.test', status: 'abandoned' },
      }),
  ],
  [
    'the attempts of a page of webhook deliveries',
    (watched) => listWebhookAttempts(watched, [delivery_id, 'webhook.test:8']),
  ],
  ['purges that are due', (watched) => claimPurges(watched, { limit: 20, lease_seconds: 60 })],
  ['how many purges wait', (watched) => countPurgesWaiting(watched)],
  ['revisions to scan', (watched) => claimChecks(watched, { limit: 4, lease_seconds: 60 })],
  ['how many revisions wait for the scanner', (watched) => countChecksWaiting(watched)],
  ['how many checks wait for moderators', (watched) => countChecksUnreviewed(watched)],
  ['how many organizations are over quota', (watched) => countOverQuota(watched)],
  [
    'the queue of moderators',
    (watched) =>
      listChecks(watched, {
        ...page,
        ...{ status: 'flagged', review: 'unreviewed', flag: null, project_slug: null },
      }),
  ],
  ['uploads whose doorbell is repeated', (watched) => listClaimableUploads(watched, 100)],
  [
    'uploads that wait for bytes',
    (watched) => listOpenUploads(watched, { after: '', limit: 100, min_age_seconds: 30 }),
  ],
  ['how many uploads wait', (watched) => countUploadsWaiting(watched)],
  ['ingest objects that an upload needs', (watched) => listLiveIngestKeys(watched, ['k7', 'none'])],
  ['parts that an upload needs', (watched) => listLiveMultiparts(watched, ['k7', 'none'])],
  ['masters that an upload needs', (watched) => listUploadContents(watched, [upload_id])],
  ['a page of uploads', (watched) => listUploads(watched, { ...page, project_id, status: null })],
  ['deleted files to erase', (watched) => updateFilesErased(watched, 30 * 24 * 3600)],
  ['ended uploads to erase', (watched) => updateUploadsErased(watched, 30 * 24 * 3600)],
  ['the first run of a job', (watched) => findFirstRunTime(watched)],
  [
    'the missed runs of a job',
    (watched) => listTimesNotRun(watched, { job: 'daily-charge', times: [new Date()] }),
  ],
  ['runs of a job that are dated ahead', (watched) => updateRunsAhead(watched, 'upload-sweep')],
  [
    'how often jobs failed',
    (watched) => countFailedJobRuns(watched, ['upload-sweep', 'retention']),
  ],
  [
    'the last successful runs of jobs',
    (watched) => listDoneJobRuns(watched, ['upload-sweep', 'retention']),
  ],
];

it.each(asked)('the query for %s scans no large table in full', async (_what, ask) => {
  const { db: watched, statements } = noting(db);
  await ask(watched);
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
    const { db: watched, statements } = noting(db);
    await listWebhookDeliveries(watched, { ...page, project_id, ...filters });
    for (const statement of statements)
      expect(await listIndexesRead(db, statement)).toEqual([index]);
  },
);
