/** Spec: Endpoints, Staff (incidents). */
import { changeIncident, openIncident } from '../../../actions/change-incident.ts';
import { newId } from '../../../core/ids.ts';
import {
  createIncidentBody,
  listIncidentsQuery,
  patchIncidentBody,
} from '../../../core/resources/incident.ts';
import { findDatabaseTime } from '../../../db/database-time.ts';
import { listIncidents } from '../../../db/incidents.ts';
import { auditActor } from '../../audit-actor.ts';
import { endpoint } from '../../endpoint.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentIncident } from '../../present/incident.ts';

export const listStaffIncidents = endpoint({
  method: 'GET',
  path: '/v1/staff/incidents',
  auth: ['staff'],
  ok: 200,
  query: listIncidentsQuery,
  handle: async ({ deps, query }) => {
    const { active_since = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/incidents',
      owner: EVERYBODY,
      filters: { active_since },
      find: (page) => listIncidents(deps.db, { ...page, active_since }),
      present: presentIncident,
    });
  },
});

export const createStaffIncident = endpoint({
  method: 'POST',
  path: '/v1/staff/incidents',
  auth: ['staff'],
  ok: 201,
  effect: 'once',
  body: createIncidentBody,
  handle: async ({ deps, principal, body, request_id }) => {
    const now = await findDatabaseTime(deps.db);
    const incident_id = newId('inc', now.getTime());
    const { started_at = now, ...said } = body;
    const actor = auditActor({ principal, request_id });
    return deps.db.transaction(async (tx) =>
      presentIncident(await openIncident(tx, { ...said, incident_id, started_at, actor })),
    );
  },
});

export const patchStaffIncident = endpoint({
  method: 'PATCH',
  path: '/v1/staff/incidents/{id}',
  auth: ['staff'],
  ok: 200,
  errors: ['incident_automatic'],
  body: patchIncidentBody,
  handle: ({ deps, principal, params, body: { ended_at, body }, request_id }) => {
    const actor = auditActor({ principal, request_id });
    const change = { incident_id: params['id'] ?? '', ended_at, body, actor };
    return deps.db.transaction(async (tx) => presentIncident(await changeIncident(tx, change)));
  },
});
