/** Spec: Endpoints, Staff (access-requests). */
import { listAccessRequestsQuery } from '../../../core/resources/access-request.ts';
import { listAccessRequests } from '../../../db/access-requests.ts';
import { endpoint } from '../../endpoint.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentAccessRequest } from '../../present/access-request.ts';

export const listStaffAccessRequests = endpoint({
  method: 'GET',
  path: '/v1/staff/access-requests',
  auth: ['staff'],
  ok: 200,
  query: listAccessRequestsQuery,
  handle: async ({ deps, query }) => {
    const { status = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/access-requests',
      owner: EVERYBODY,
      filters: { status },
      find: (page) => listAccessRequests(deps.db, { ...page, status }),
      present: presentAccessRequest,
    });
  },
});
