// Table incidents: opened by staff, or by failed samples of a service. Spec: Staff, incidents; Public, status.
import type { Queryable, Transaction } from './client.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
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

/** Locked until the transaction ends. */
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

/** Newest first; those that were open at `active_since` or later, or all if null. */
export function listIncidents(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { active_since: Date | null },
): Promise<Page<IncidentRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<IncidentRow, 'active_since'> = {
  select: 'select * from incidents',
  conditions: { active_since: (value) => `(ended_at is null or ended_at >= ${value})` },
  order: ['created_at', 'incident_id'],
  idOf: (row) => row.incident_id,
};

/** The open automatic incident of a service, locked until the transaction ends. */
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
