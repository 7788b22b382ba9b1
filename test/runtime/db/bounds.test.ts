// Column checks in the schema have the same bounds as core/limits.ts, and the same words as the enumerations in the
// code.
import { describe, expect, it } from 'vitest';
import { processingErrors } from '../../../runtime/core/errors.ts';
import { additionalEventKinds, eventKinds } from '../../../runtime/core/events.ts';
import * as limits from '../../../runtime/core/limits.ts';
import { severities } from '../../../runtime/core/resources/incident.ts';
import { apiKeyScopes } from '../../../runtime/core/scopes.ts';
import {
  checkStatuses,
  fileStatuses,
  projectStatuses,
  reviewValues,
  uploadStatuses,
  webhookStatuses,
} from '../../../runtime/core/states.ts';
import { useDatabase } from '../../support/database.ts';

const { db } = useDatabase();

/** Upper bounds that the schema shares with the API. */
const bounds: Record<string, number> = {
  'access_requests.email': limits.EMAIL_LENGTH_MAX,
  'api_keys.name': limits.NAME_LENGTH_MAX,
  'check_reviews.note': limits.NOTE_LENGTH_MAX,
  'files.alt_text': limits.ALT_TEXT_LENGTH_MAX,
  'files.blocked_reason': limits.BLOCK_REASON_LENGTH_MAX,
  'files.folder': limits.FOLDER_LENGTH_MAX,
  'files.original_filename': limits.ORIGINAL_FILENAME_LENGTH_MAX,
  'files.title': limits.TITLE_LENGTH_MAX,
  'idempotency_keys.idempotency_key': limits.IDEMPOTENCY_KEY_LENGTH_MAX,
  'incidents.body': limits.NOTE_LENGTH_MAX,
  'libraries.allowed_origins': limits.LIBRARY_ALLOWED_ORIGINS_MAX,
  'libraries.name': limits.LIBRARY_NAME_LENGTH_MAX,
  'moderation_notes.note': limits.NOTE_LENGTH_MAX,
  'organizations.name': limits.NAME_LENGTH_MAX,
  'project_domains.domain': limits.HOSTNAME_LENGTH_MAX,
  'project_domains.position': limits.CUSTOM_DOMAINS_MAX,
  'projects.allowed_transform_chains': limits.ALLOWED_TRANSFORM_CHAINS_MAX,
  'projects.library_origins': limits.LIBRARY_ALLOWED_ORIGINS_MAX,
  'projects.name': limits.NAME_LENGTH_MAX,
  'projects.resolution_presets': limits.RESOLUTION_PRESETS_MAX,
  'project_pricing.multiplier': limits.PRICING_MULTIPLIER_MAX,
  'recipes.name': limits.NAME_LENGTH_MAX,
  'uploads.folder': limits.FOLDER_LENGTH_MAX,
  'uploads.original_filename': limits.ORIGINAL_FILENAME_LENGTH_MAX,
  'uploads.part_count': limits.MULTIPART_PARTS_MAX,
  'uploads.title': limits.TITLE_LENGTH_MAX,
  'users.email': limits.EMAIL_LENGTH_MAX,
  'users.first_name': limits.NAME_LENGTH_MAX,
  'users.last_name': limits.NAME_LENGTH_MAX,
  'users.name': limits.NAME_LENGTH_MAX,
  'watermark_presets.name': limits.NAME_LENGTH_MAX,
  'watermark_presets.opacity': limits.WATERMARK_OPACITY_MAX,
  'webhook_attempts.response_excerpt': limits.WEBHOOK_EXCERPT_LENGTH_MAX,
  'webhook_deliveries.attempt': limits.WEBHOOK_ATTEMPTS_MAX,
  'webhook_deliveries.body': limits.WEBHOOK_BODY_BYTES_MAX,
};

/** Columns with bounds that no client writes. */
const inward = [
  'billing_customers.customer_id',
  'billing_payments.paid_by',
  'billing_payments.payment_id',
  'credit_reversals.external_id',
  'provider_events.event_id',
  'provider_events.event_type',
  'subscriptions.subscription_id',
  'webhook_attempts.error',
  'credit_grants.external_id',
  'file_revisions.focal_x',
  'file_revisions.focal_y',
  'file_revisions.thumb_hash',
  'files.latitude',
  'files.longitude',
  'api_keys.prefix',
  'idempotency_keys.caller',
  'idempotency_keys.claim_id',
  'idempotency_keys.project_slug',
  'idempotency_keys.status',
  'job_runs.job',
  'ledger.run',
  'rate_windows.scope',
  'rate_windows.subject',
  'usage_batches.spool_id',
  'usage_days.hours_closed',
  'users.subject',
  'webhook_deliveries.delivery_id',
  'webhook_deliveries.request_id',
];

const words: [column: string, words: readonly string[]][] = [
  ['api_keys.scopes', apiKeyScopes],
  ['files.status', fileStatuses],
  ['incidents.severity', severities],
  ['projects.status', projectStatuses],
  ['scanner_checks.review', reviewValues],
  ['scanner_checks.status', checkStatuses],
  ['uploads.error_code', Object.keys(processingErrors)],
  ['uploads.status', uploadStatuses],
  ['webhook_deliveries.event', Object.keys({ ...eventKinds, ...additionalEventKinds })],
  ['webhook_deliveries.status', webhookStatuses],
];

type Check = { column: string; definition: string };

/** Check constraints that cover a single column. */
async function listChecks(): Promise<Check[]> {
  return db.query<Check>(
    `select c.relname || '.' || a.attname as column, pg_get_constraintdef(r.oid) as definition
     from pg_constraint r join pg_class c on c.oid = r.conrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = r.conkey[1]
     where r.contype = 'c' and c.relnamespace = 'public'::regnamespace and not c.relispartition
       and cardinality(r.conkey) = 1
     order by 1`,
  );
}

/** Upper bounds in a check's definition; empty if it has none. */
const largest = ({ definition }: Check): number[] =>
  [...definition.matchAll(/<= \(?'?(-?\d+)/g)].map(([, number]) => Number(number));

describe('the schema and the code agree', () => {
  it('on every maximum length, number and count', async () => {
    const checks = await listChecks();
    const found = checks.flatMap((check) => largest(check).map((most) => [check.column, most]));
    const outward = found.filter(([column]) => !inward.includes(String(column)));
    expect(Object.fromEntries(outward)).toEqual(bounds);
  });

  it.each(words)('on the allowed values of %s', async (column, known) => {
    const checks = (await listChecks()).filter((check) => check.column === column);
    const said = checks.flatMap(({ definition }) =>
      [...definition.matchAll(/'([^']+)'::text/g)].map(([, word]) => word),
    );
    expect(said.sort()).toEqual([...known].sort());
  });

  it('on the maximum number of active API keys per project', async () => {
    const [row] = await db.query<{ source: string }>(
      `select prosrc as source from pg_proc where proname = 'check_active_api_keys'`,
    );
    expect(row?.source).toContain(`> ${limits.API_KEYS_ACTIVE_MAX} then`);
  });

  it('on the maximum number of attempts of a pending webhook', async () => {
    const [row] = await db.query<{ definition: string }>(
      `select pg_get_constraintdef(oid) as definition from pg_constraint
       where conname = 'webhook_deliveries_pending_has_attempts_left'`,
    );
    expect(row?.definition).toContain(`attempt < ${limits.WEBHOOK_ATTEMPTS_MAX}`);
  });
});
