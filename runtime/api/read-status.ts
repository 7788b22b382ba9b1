/** What the status page tells: a day of samples for each service, and incidents of late. Spec: Public, status. */
import {
  STATUS_INCIDENTS_DAYS,
  STATUS_INCIDENTS_MAX,
  STATUS_SAMPLES_HOURS,
} from '../core/limits.ts';
import type { StatusRecord } from '../core/resources/incident.ts';
import { statusServices } from '../core/status.ts';
import type { Queryable } from '../db/client.ts';
import { listIncidents } from '../db/incidents.ts';
import { listStatusSamples, type StatusSampleRow } from '../db/status-samples.ts';
import { presentIncident } from './present/incident.ts';

const DAY_MS = 86_400_000;

/** A service without samples is listed too: that nothing is known of it is worth knowing. */
export async function readStatus(db: Queryable, now: Date): Promise<StatusRecord> {
  const samples = Map.groupBy(
    await listStatusSamples(db, STATUS_SAMPLES_HOURS),
    ({ service }) => service,
  );
  const active_since = new Date(now.getTime() - STATUS_INCIDENTS_DAYS * DAY_MS);
  const page = { limit: STATUS_INCIDENTS_MAX, after: null };
  const { rows } = await listIncidents(db, { ...page, active_since });
  return {
    services: Object.keys(statusServices).map((service) => ({
      service,
      samples: (samples.get(service) ?? []).map(presentSample),
    })),
    incidents: rows.map(presentIncident),
  };
}

function presentSample({ sampled_at, ok }: StatusSampleRow) {
  return { sampled_at: sampled_at.toISOString(), ok };
}
