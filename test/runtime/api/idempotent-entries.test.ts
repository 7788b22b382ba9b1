// POSTs that each write an audit entry: repeated with the same Idempotency-Key, they write it once.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { findProjectBySlug } from '../../../runtime/db/projects.ts';
import { createProject, newSubject, signatureOf } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { makeFile, must } from '../../support/rows.ts';
import { withoutStoring } from '../../support/without-storing.ts';

const api = useApi();
/** Callers that can send Idempotency-Key; other requests are deduplicated by their own ids. */
const CALLERS = /^(dash|staff|key|token)/;

it('every POST declares that it takes effect once, unless it waits for storage or a provider', () => {
  const others = endpoints.filter(
    ({ method, effect, auth }) =>
      method === 'POST' && effect !== 'once' && auth.some((one) => CALLERS.test(one)),
  );
  expect(others.map(({ path }) => path).toSorted()).toEqual([
    '/v1/billing/cancel-subscription',
    '/v1/library/uploads/{id}/abort',
    '/v1/library/uploads/{id}/complete',
    '/v1/projects/{slug}/uploads/{id}/abort',
    '/v1/projects/{slug}/uploads/{id}/complete',
    '/v1/projects/{slug}/uploads/{id}/parts',
  ]);
});

it('an abort whose response could not be stored returns the same response when retried', async () => {
  const subject = newSubject();
  const owner = api.session(subject);
  const { project_slug } = await createProject(owner);
  const uploads = `/v1/projects/${project_slug}/uploads`;
  const { upload_id } = (await owner('POST', uploads, { content_type: 'image/png', size_bytes: 9 }))
    .body;
  const path = `${uploads}/${upload_id}/abort`;
  const headers = {
    ...(await api.sessionHeaders(subject)),
    ...signatureOf('POST', path, ''),
    'idempotency-key': randomUUID(),
  };
  const abort = () => api.send({ method: 'POST', path, raw: '', headers });
  api.change({ db: withoutStoring(api.db) });
  const first = await abort();
  api.change({});
  const [again, kept] = [await abort(), await abort()];
  expect([first.status, first.body.status]).toEqual([200, 'expired']);
  expect([again.body, kept.body]).toEqual([first.body, first.body]);
});

it.each([
  ['signed-url', { file_slug: 'a.png' }, 200],
  ['files/a.png/moderation-notes', { note: 'Looked at.' }, 201],
  ['keys/{key}/revoke', undefined, 200],
])(
  '%s takes effect once and repeats its response, or has no effect if the response cannot be stored',
  async (name, body, status) => {
    const subject = newSubject();
    const { project_slug } = await createProject(api.session(subject));
    const { project_id } = must(await findProjectBySlug(api.db, project_slug));
    await makeFile(api.db, { project_id }, { file_slug: 'a.png' });
    const project = `/v1/projects/${project_slug}`;
    const made = await api.session(subject)('POST', `${project}/keys`, { name: 'server' });
    const path = `${project}/${name.replace('{key}', made.body.id)}`;
    const raw = body === undefined ? '' : JSON.stringify(body);
    const key = { 'idempotency-key': randomUUID() };
    const post = async () => {
      const headers = { ...(await api.sessionHeaders(subject)), ...signatureOf('POST', path, raw) };
      return api.send({ method: 'POST', path, raw, headers: { ...headers, ...key } });
    };
    const entries = () =>
      api.db.query(
        `select action from audit_log where project_id = $1 and action not in ('project.create', 'api_key.create')`,
        [project_id],
      );
    api.change({ db: withoutStoring(api.db) });
    expect((await post()).status).toBe(500);
    expect(await entries()).toEqual([]);
    api.change({});
    const first = await post();
    expect(first.status).toBe(status);
    expect((await post()).body).toEqual(first.body);
    expect(await entries()).toHaveLength(1);
  },
);
