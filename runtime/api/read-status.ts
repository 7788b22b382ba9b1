/** What the status page tells: a day of samples for each service, and incidents of late. Spec: Public, status. */
import {
  STATUS_INCIDENTS_DAYS,
  STATUS_INCIDENTS_MAX,
  STATUS_SAMPLES_HOURS,
} from '../core/limits.ts';
import type { StatusRecord } from '../core/resources/incident.ts';
import { statusServices } from '../core/status.ts';
import type { Queryable } from '../db/client.ts';
import { type IncidentRow, listIncidents } from '../db/incidents.ts';
import { listStatusSamples, type StatusSampleRow } from '../db/status-samples.ts';
import { presentIncident } from './present/incident.ts';

const DAY_MS = 86_400_000;

/** A service without samples is listed too: that nothing is known of it is worth knowing. */
export async function readStatus(db: Queryable, now: Date): Promise<StatusRecord> {
  const samples = Map.groupBy(
    await listStatusSamples(db, STATUS_SAMPLES_HOURS),
    ({ service }) => service,
  );
  const incidents = await listShown(db, now);
  return {
    services: Object.keys(statusServices).map((service) => ({
      service,
      samples: (samples.get(service) ?? []).map(presentSample),
    })),
    incidents: incidents.map(presentIncident),
  };
}

/** Newest first. Those that go on are all there, however many came and went since they began. */
async function listShown(db: Queryable, now: Date): Promise<IncidentRow[]> {
  const page = { limit: STATUS_INCIDENTS_MAX, after: null };
  const lately = new Date(now.getTime() - STATUS_INCIDENTS_DAYS * DAY_MS);
  const { rows: open } = await listIncidents(db, { ...page, active_since: now });
  const { rows: recent } = await listIncidents(db, { ...page, active_since: lately });
  const known = new Set(open.map(({ incident_id }) => incident_id));
  const others = recent.filter(({ incident_id }) => !known.has(incident_id));
  return [...open, ...others]
    .slice(0, STATUS_INCIDENTS_MAX)
    .toSorted((one, other) => other.created_at.getTime() - one.created_at.getTime());
}

function presentSample({ sampled_at, ok }: StatusSampleRow) {
  return { sampled_at: sampled_at.toISOString(), ok };
}
