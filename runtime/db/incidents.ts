// Table incidents: opened by staff, or by failed samples of a service. Spec: Staff, incidents; Public, status.
import type { Queryable, Transaction } from './client.ts';
import { keysetValues, type Page, type PageQuery, pageOf } from './keyset.ts';
import { onlyRow } from './rows.ts';

export type IncidentRow = {
  incident_id: string;
  title: string;
  services: string[];
  severity: 'minor' | 'major' | 'critical';
  body: string;
  automatic: boolean;
  started_at: Date;
  ended_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type NewIncident = Omit<IncidentRow, 'ended_at' | 'created_at' | 'updated_at'>;

export async function insertIncident(db: Queryable, row: NewIncident): Promise<IncidentRow> {
  const [inserted] = await db.query<IncidentRow>(
    `insert into incidents (incident_id, title, services, severity, body, automatic, started_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning *`,
    [
      row.incident_id,
      row.title,
      row.services,
      row.severity,
      row.body,
      row.automatic,
      row.started_at,
    ],
  );
  return onlyRow(inserted);
}

/** Until the transaction ends nobody else changes it. */
export async function lockIncident(
  tx: Transaction,
  incidentId: string,
): Promise<IncidentRow | undefined> {
  const rows = await tx.query<IncidentRow>(
    'select * from incidents where incident_id = $1 for no key update',
    [incidentId],
  );
  return rows[0];
}

export async function updateIncident(
  tx: Transaction,
  { incident_id, ended_at, body }: Pick<IncidentRow, 'incident_id' | 'ended_at' | 'body'>,
): Promise<IncidentRow> {
  const [updated] = await tx.query<IncidentRow>(
    `update incidents set ended_at = $2, body = $3, updated_at = now()
     where incident_id = $1 returning *`,
    [incident_id, ended_at, body],
  );
  return onlyRow(updated);
}

/** Newest first; those that were open at `active_since` or later, or all with null. */
export async function listIncidents(
  db: Queryable,
  query: PageQuery & { active_since: Date | null },
): Promise<Page<IncidentRow>> {
  const rows = await db.query<IncidentRow>(
    `select * from incidents
     where ($1::timestamptz is null or ended_at is null or ended_at >= $1)
       and ($2::timestamptz is null or (created_at, incident_id) < ($2, $3))
     order by created_at desc, incident_id desc limit $4`,
    [query.active_since, ...keysetValues(query)],
  );
  return pageOf(rows, query.limit, (row) => row.incident_id);
}

/** The automatic incident of a service that goes on, locked until the transaction ends. */
export async function lockAutomaticIncident(
  tx: Transaction,
  service: string,
): Promise<IncidentRow | undefined> {
  const rows = await tx.query<IncidentRow>(
    `select * from incidents where automatic and ended_at is null and services = array[$1]
     for no key update`,
    [service],
  );
  return rows[0];
}
