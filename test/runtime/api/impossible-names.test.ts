// Spec: Envelope; Codes by status (404). What stands in a path and cannot be the name of anything.
import { expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { codeOf, createProject, newSubject } from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';

const api = useApi();

/** What each writes, where it takes anything. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /v1/staff/organizations/{organization_id}': { billing_exempt: true },
  'POST /v1/staff/files/{fileId}/block': { reason: 'because' },
  'POST /v1/staff/checks/{id}/review': { decision: 'approved' },
  'PATCH /v1/staff/incidents/{id}': { ended_at: null },
  'PUT /v1/projects/{slug}/recipes/{id}': { name: 'r', transform_chain: 'resize/10x' },
  'PUT /v1/projects/{slug}/watermark-presets/{id}': { name: 'w', file_slug: 'logo.png' },
};

it('is found by no operation, and breaks none', async () => {
  const owner = newSubject();
  const { project_slug } = await createProject(api.session(owner));
  const named = endpoints.filter(({ path, auth }) => path.includes('{') && !auth.includes('token'));
  for (const { method, path, auth } of named) {
    const call = api.session(auth.includes('staff') ? STAFF_SUBJECT : owner);
    const slugless = path.startsWith('/v1/projects/') ? path.replace('{slug}', project_slug) : path;
    const asked = slugless.replaceAll(/\{\w+\}/g, 'a%00b');
    const answer = await call(method, asked, BODIES[`${method} ${path}`]);
    expect(answer.status, `${method} ${asked}: ${codeOf(answer)}`).toBeLessThan(500);
  }
});
