/** Spec: Endpoints, Identity and organizations. */
import { insertTrialOrganization } from '../../actions/insert-organization.ts';
import { createOrganizationBody } from '../../core/resources/organization.ts';
import { onlyRow } from '../../db/rows.ts';
import { auditActor } from '../audit-actor.ts';
import { requireDashPrincipal } from '../auth/principal.ts';
import { endpoint, withStatus } from '../endpoint.ts';
import { presentOrganization } from '../present/organization.ts';

/** A person has one organization, so there is never a second page. */
export const listOwnOrganizations = endpoint({
  method: 'GET',
  path: '/v1/organizations',
  auth: ['dash'],
  ok: 200,
  handle: async ({ principal }) => ({
    items: [presentOrganization(requireDashPrincipal(principal).organization)],
    next_cursor: null,
  }),
});

const NAME_UNTIL_RENAMED = 'New organization';

/**
 * Staff create an organization; a tenant's exists since the first login and is returned, whatever
 * the body holds.
 */
export const createOrganization = endpoint({
  method: 'POST',
  path: '/v1/organizations',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  body: createOrganizationBody,
  ignoresBody: (principal) => principal.kind === 'dash' && !principal.is_staff,
  handle: async ({ deps, principal, body, request_id }) => {
    const { is_staff, organization } = requireDashPrincipal(principal);
    if (!is_staff) return withStatus(200, presentOrganization(organization));
    const name = body?.name ?? NAME_UNTIL_RENAMED;
    const actor = auditActor({ principal, request_id });
    const made = await deps.db.transaction((tx) =>
      insertTrialOrganization(tx, deps, { name, actor }),
    );
    return presentOrganization(onlyRow(made));
  },
});
