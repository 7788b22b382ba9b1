/** Spec: Endpoints, Staff (organizations). */
import { exemptOrganization } from '../../../actions/exempt-organization.ts';
import { ServiceError } from '../../../core/errors.ts';
import { patchOrganizationBody } from '../../../core/resources/organization.ts';
import { insertAuditEntry } from '../../../db/audit-log.ts';
import { findOrganization } from '../../../db/organizations.ts';
import { auditActor } from '../../audit-actor.ts';
import { endpoint } from '../../endpoint.ts';
import { presentOrganization } from '../../present/organization.ts';

export const getStaffOrganization = endpoint({
  method: 'GET',
  path: '/v1/staff/organizations/{organization_id}',
  auth: ['staff'],
  ok: 200,
  handle: ({ deps, principal, params, request_id }) =>
    deps.db.transaction(async (tx) => {
      const organization = await findOrganization(tx, params['organization_id'] ?? '');
      if (organization === undefined) throw new ServiceError('not_found');
      const { organization_id } = organization;
      const actor = auditActor({ principal, request_id });
      const entry = { action: 'organization.read', target: organization_id };
      await insertAuditEntry(tx, { organization_id, ...actor, ...entry });
      return presentOrganization(organization);
    }),
});

export const patchStaffOrganization = endpoint({
  method: 'PATCH',
  path: '/v1/staff/organizations/{organization_id}',
  auth: ['staff'],
  ok: 200,
  body: patchOrganizationBody,
  handle: ({ deps, principal, params, body, request_id }) =>
    deps.db.transaction(async (tx) => {
      const organization_id = params['organization_id'] ?? '';
      const actor = auditActor({ principal, request_id });
      return presentOrganization(await exemptOrganization(tx, { organization_id, ...body, actor }));
    }),
});
