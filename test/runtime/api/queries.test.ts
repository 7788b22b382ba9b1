// A parameter that an endpoint does not know is refused, never ignored. Spec: Conventions.
import { beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { codeOf, createProject, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { makeFile } from '../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
const queried = endpoints.filter(({ query }) => query !== null);
let slug = '';

beforeAll(async () => {
  const project = await createProject(owner);
  slug = project.project_slug;
  await makeFile(api.db, project, { file_slug: 'a.png' });
});

describe('an endpoint that takes a query', () => {
  it('is among these', () => {
    expect(queried.map(({ path }) => path).toSorted()).toEqual([
      '/v1/projects',
      '/v1/projects/{slug}/files',
      '/v1/projects/{slug}/files/{fileSlug}',
      '/v1/projects/{slug}/uploads',
      '/v1/projects/{slug}/usage',
    ]);
  });

  it.each(queried)('refuses an unknown parameter in our words: $path', async ({ method, path }) => {
    const known = path.replace('{slug}', slug).replace('{fileSlug}', 'a.png');
    for (const bogus of ['bogus', '__proto__', 'constructor']) {
      const answer = await owner(method, `${known}?${bogus}=1`);
      expect(codeOf(answer), bogus).toBe('400 invalid_request');
      expect(answer.body.error.details.issues).toEqual([
        { path: bogus, message: expect.stringContaining(`unknown parameter; known are `) },
      ]);
    }
  });
});
