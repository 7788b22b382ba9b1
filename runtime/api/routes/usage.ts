/** Spec: Endpoints, Usage. */
import type { z } from 'zod';
import { dayOf, reconciledThrough } from '../../core/metering.ts';
import { resolveUsageRange, type UsageRecord, usageQuery } from '../../core/resources/usage.ts';
import { findDatabaseTime } from '../../db/database-time.ts';
import { findOrganization } from '../../db/organizations.ts';
import { listUsageDays, type UsageDayRow } from '../../db/usage-days.ts';
import { listUsageHours, type UsageHourRow } from '../../db/usage-hours.ts';
import { type ProjectCall, projectEndpoint } from '../endpoint.ts';

export const getUsage = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/usage',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  query: usageQuery,
  handle: readUsage,
});

export const getStaffUsage = projectEndpoint({
  method: 'GET',
  path: '/v1/staff/projects/{slug}/usage',
  auth: ['staff'],
  ok: 200,
  projects: 'own, staff any',
  query: usageQuery,
  handle: readUsage,
});

async function readUsage({
  deps,
  project,
  query,
}: ProjectCall<undefined, z.infer<typeof usageQuery>>): Promise<UsageRecord> {
  const now = await findDatabaseTime(deps.db);
  const { from, to, range_capped } = resolveUsageRange(query, now);
  const { project_id, organization_id, file_count, storage_bytes } = project;
  const [hours, days, organization] = await Promise.all([
    listUsageHours(deps.db, { project_ids: [project_id], from, to }),
    from < to ? listUsageDays(deps.db, { project_id, ...daysOf({ from, to }) }) : [],
    findOrganization(deps.db, organization_id),
  ]);
  return {
    project_slug: project.project_slug,
    from: from.toISOString(),
    to: to.toISOString(),
    range_capped,
    storage: { file_count, storage_bytes },
    hourly: hours.map(presentHour),
    daily: days.map(presentDay),
    credit_balance: organization?.credit_balance ?? 0,
    reconciled_through: reconciledThrough(now).toISOString(),
  };
}

/** The days that a half-open range touches. */
function daysOf({ from, to }: { from: Date; to: Date }): { from: string; to: string } {
  return { from: dayOf(from), to: dayOf(new Date(to.getTime() - 1)) };
}

function presentHour({
  window_start,
  computed_at,
  ...row
}: UsageHourRow): UsageRecord['hourly'][number] {
  const { requests, bytes, transforms, credits } = row;
  return {
    window_start: window_start.toISOString(),
    requests,
    bytes,
    transforms,
    credits,
    computed_at: computed_at.toISOString(),
  };
}

function presentDay({ day, finalized_at, ...row }: UsageDayRow): UsageRecord['daily'][number] {
  const { requests, bytes, transforms, credits, charged_credits, hours_closed } = row;
  return {
    day,
    requests,
    bytes,
    transforms,
    credits,
    charged_credits,
    hours_closed,
    finalized_at: finalized_at?.toISOString() ?? null,
  };
}
