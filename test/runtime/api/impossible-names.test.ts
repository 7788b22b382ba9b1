// Spec: Envelope; Codes by status (404). Path parameters that cannot name anything.
import { expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { codeOf, createProject, newSubject } from '../../support/api-client.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';

const api = useApi();

/** Bodies for the endpoints that require one. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /v1/staff/organizations/{organization_id}': { billing_exempt: true },
  'POST /v1/staff/files/{fileId}/block': { reason: 'because' },
  'POST /v1/staff/checks/{id}/review': { decision: 'approved' },
  'PATCH /v1/staff/incidents/{id}': { ended_at: null },
  'PATCH /v1/projects/{slug}/files/{fileSlug}': { title: 'It' },
  'POST /v1/projects/{slug}/files/{fileSlug}/moderation-notes': { note: 'look' },
  'PATCH /v1/projects/{slug}/libraries/{lib}': { name: 'It' },
  'PUT /v1/projects/{slug}/recipes/{id}': { name: 'r', transform_chain: 'resize/10x' },
  'PUT /v1/projects/{slug}/watermark-presets/{id}': { name: 'w', file_slug: 'logo.png' },
};

/** Statuses other than 404: PUT rejects an invalid id, and DELETE succeeds if nothing exists. */
const STATUSES: Readonly<Record<string, number>> = {
  'PUT /v1/projects/{slug}/recipes/{id}': 400,
  'PUT /v1/projects/{slug}/watermark-presets/{id}': 400,
  'DELETE /v1/projects/{slug}/recipes/{id}': 204,
  'GET /embed/{project}/{library}': 400,
};

it('every operation treats a path parameter that contains a NUL as an unknown or invalid name', async () => {
  const owner = newSubject();
  const { project_slug } = await createProject(api.session(owner));
  const callback = { callback_url: 'https://1.1.1.1/hook' };
  await api.session(owner)('PATCH', `/v1/projects/${project_slug}`, callback);
  const named = endpoints.filter(({ path, auth }) => path.includes('{') && !auth.includes('token'));
  for (const { method, path, auth } of named) {
    const call = api.session(auth.includes('staff') ? STAFF_SUBJECT : owner);
    const slugless = path.startsWith('/v1/projects/') ? path.replace('{slug}', project_slug) : path;
    const asked = slugless.replaceAll(/\{\w+\}/g, 'a%00b');
    // The path names only the project, which exists.
    if (asked === slugless) continue;
    const operation = `${method} ${path}`;
    const answer = await call(method, asked, BODIES[operation]);
    expect(answer.status, `${operation}: ${codeOf(answer)}`).toBe(STATUSES[operation] ?? 404);
  }
});
