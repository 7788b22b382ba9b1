/** The data of the status page: a day of samples for each service, and recent incidents. Spec: Public, status. */
import { DAY_MS, MINUTE_MS } from '../core/durations.ts';
import {
  STATUS_INCIDENTS_DAYS,
  STATUS_INCIDENTS_MAX,
  STATUS_SAMPLES_HOURS,
} from '../core/limits.ts';
import type { StatusRecord } from '../core/resources/incident.ts';
import { statusServices } from '../core/status.ts';
import type { Queryable } from '../db/client.ts';
import { type IncidentRow, listIncidents } from '../db/incidents.ts';
import {
  findNewestSamples,
  listStatusSamples,
  type StatusSampleRow,
} from '../db/status-samples.ts';
import { presentIncident } from './present/incident.ts';

export type StatusBoard = (db: Queryable, now: Date) => Promise<StatusRecord>;

/**
 * There are thousands of samples and the page is public, so they are read again only when new ones
 * exist or another minute begins.
 */
export function createStatusBoard(): StatusBoard {
  let known: { of: string; services: StatusRecord['services'] } | undefined;
  return async (db, now) => {
    const newest = await findNewestSamples(db);
    const of = JSON.stringify([newest, Math.floor(now.getTime() / MINUTE_MS)]);
    if (known?.of !== of) known = { of, services: await readServices(db) };
    const incidents = await listShown(db, now);
    return { services: known.services, incidents: incidents.map(presentIncident) };
  };
}

/** Lists services without samples too, because a missing sample is information. */
async function readServices(db: Queryable): Promise<StatusRecord['services']> {
  const samples = await listStatusSamples(db, STATUS_SAMPLES_HOURS);
  const grouped = Map.groupBy(samples, ({ service }) => service);
  return Object.keys(statusServices).map((service) => {
    return { service, samples: (grouped.get(service) ?? []).map(presentSample) };
  });
}

/** Newest first. Open incidents are always included, however many others began and ended since. */
async function listShown(db: Queryable, now: Date): Promise<IncidentRow[]> {
  const page = { limit: STATUS_INCIDENTS_MAX, after: null };
  const since = new Date(now.getTime() - STATUS_INCIDENTS_DAYS * DAY_MS);
  const { rows: open } = await listIncidents(db, { ...page, active_since: now });
  const { rows: recent } = await listIncidents(db, { ...page, active_since: since });
  const known = new Set(open.map(({ incident_id }) => incident_id));
  const others = recent.filter(({ incident_id }) => !known.has(incident_id));
  return [...open, ...others]
    .slice(0, STATUS_INCIDENTS_MAX)
    .toSorted((one, other) => other.created_at.getTime() - one.created_at.getTime());
}

function presentSample({ sampled_at, ok }: StatusSampleRow) {
  return { sampled_at: sampled_at.toISOString(), ok };
}
