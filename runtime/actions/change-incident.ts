/** Incidents that staff publish on the status page, with every change audited. Spec: Staff, incidents. */
import { ServiceError } from '../core/errors.ts';
import { wrongInput } from '../core/input-issue.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import {
  type IncidentRow,
  insertIncident,
  lockIncident,
  type NewIncident,
  updateIncident,
} from '../db/incidents.ts';

type NewManual = Omit<NewIncident, 'automatic'>;

export async function openIncident(
  tx: Transaction,
  { actor, ...incident }: NewManual & { actor: Actor },
): Promise<IncidentRow> {
  const opened = await insertIncident(tx, { ...incident, automatic: false });
  const after = { title: opened.title, services: opened.services, ...wordsOf(opened) };
  const entry = { action: 'incident.create', target: opened.incident_id, after };
  await insertAuditEntry(tx, { ...actor, ...entry });
  return opened;
}

type Change = {
  incident_id: string;
  /** Null: still open. */
  ended_at: Date | null | undefined;
  body: string | undefined;
  actor: Actor;
};

/**
 * A change without effect writes nothing. Throws not_found, incident_automatic, and invalid_request
 * for an end before the start.
 */
export async function changeIncident(
  tx: Transaction,
  { incident_id, actor, ...input }: Change,
): Promise<IncidentRow> {
  const before = await lockIncident(tx, incident_id);
  if (before === undefined) throw new ServiceError('not_found');
  if (before.automatic) throw new ServiceError('incident_automatic');
  const { ended_at = before.ended_at, body = before.body } = input;
  if (body === before.body && isSameTime(ended_at, before.ended_at)) return before;
  refuseEnd(before, ended_at);
  const after = await updateIncident(tx, { incident_id, ended_at, body });
  const words = { before: wordsOf(before), after: wordsOf(after) };
  await insertAuditEntry(tx, {
    ...actor,
    action: 'incident.update',
    target: incident_id,
    ...words,
  });
  return after;
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

function refuseEnd({ started_at }: IncidentRow, ended_at: Date | null): void {
  if (ended_at === null || ended_at >= started_at) return;
  const message = `expected a time not before its start, ${started_at.toISOString()}`;
  throw wrongInput({ path: 'ended_at', message });
}

function wordsOf({ severity, body, started_at, ended_at }: IncidentRow) {
  return { severity, body, started_at, ended_at };
}
