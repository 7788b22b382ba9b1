/** An incident's row as the API answers it. Spec: Staff, incidents. */
import type { IncidentRecord } from '../../core/resources/incident.ts';
import type { IncidentRow } from '../../db/incidents.ts';

export function presentIncident(row: IncidentRow): IncidentRecord {
  return {
    incident_id: row.incident_id,
    title: row.title,
    services: row.services,
    severity: row.severity,
    body: row.body,
    automatic: row.automatic,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
