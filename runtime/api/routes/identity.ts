/** Spec: Endpoints, Identity and organizations. */
import type { MeRecord } from '../../core/resources/organization.ts';
import type { UserRow } from '../../db/users.ts';
import { type DashPrincipal, requireDashPrincipal } from '../auth/principal.ts';
import { endpoint } from '../endpoint.ts';
import { presentOrganization } from '../present/organization.ts';

export const getMe = endpoint({
  method: 'GET',
  path: '/v1/me',
  auth: ['dash'],
  ok: 200,
  handle: async ({ principal }) => presentMe(requireDashPrincipal(principal)),
});

function presentMe({ user, organization, is_staff }: DashPrincipal): MeRecord {
  return {
    user: presentUser(user),
    organization: presentOrganization(organization),
    role: user.role,
    staff: is_staff,
  };
}

function presentUser({ created_at, updated_at, ...row }: UserRow): MeRecord['user'] {
  const { user_id, subject, email, first_name, last_name, name } = row;
  return {
    user_id,
    subject,
    email,
    first_name,
    last_name,
    name,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
