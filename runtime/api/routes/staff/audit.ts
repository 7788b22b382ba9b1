/** Spec: Endpoints, Staff. Showing the trail is our addition. */
import { listAuditQuery } from '../../../core/resources/audit-entry.ts';
import { listAuditEntries } from '../../../db/audit-log.ts';
import { endpoint } from '../../endpoint.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentAuditEntry } from '../../present/audit-entry.ts';

export const listStaffAudit = endpoint({
  method: 'GET',
  path: '/v1/staff/audit',
  auth: ['staff'],
  ok: 200,
  query: listAuditQuery,
  handle: async ({ deps, query }) => {
    const { limit: _limit, cursor: _cursor, ...asked } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/audit',
      owner: EVERYBODY,
      filters: asked,
      find: (page) => listAuditEntries(deps.db, { ...page, ...asked }),
      present: presentAuditEntry,
    });
  },
});
