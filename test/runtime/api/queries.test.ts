// Unknown query parameters are rejected, never ignored. Spec: Conventions.
import { beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../../runtime/api/endpoints.ts';
import { codeOf, createProject, newSubject } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { makeFile } from '../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());
/** The endpoints of staff, the picker and the embed page have their own tests. */
const queried = endpoints.filter(({ query, auth }) => query !== null && auth.includes('dash'));
let slug = '';

beforeAll(async () => {
  const project = await createProject(owner);
  slug = project.project_slug;
  await makeFile(api.db, project, { file_slug: 'a.png' });
});

describe('an endpoint with query parameters', () => {
  it('is covered by this test', () => {
    expect(queried.map(({ path }) => path).toSorted()).toEqual([
      '/v1/projects',
      '/v1/projects/{slug}/files',
      '/v1/projects/{slug}/files/{fileSlug}',
      '/v1/projects/{slug}/libraries',
      '/v1/projects/{slug}/uploads',
      '/v1/projects/{slug}/usage',
      '/v1/projects/{slug}/webhook-deliveries',
    ]);
  });

  it.each(queried)(
    'rejects an unknown parameter and names the known ones: $path',
    async ({ method, path }) => {
      const known = path.replace('{slug}', slug).replace('{fileSlug}', 'a.png');
      for (const bogus of ['bogus', '__proto__', 'constructor']) {
        const answer = await owner(method, `${known}?${bogus}=1`);
        expect(codeOf(answer), bogus).toBe('400 invalid_request');
        expect(answer.body.error.details.issues).toEqual([
          {
            path: bogus,
            message: expect.stringContaining(`unknown parameter; known parameters: `),
          },
        ]);
      }
    },
  );
});

describe('an endpoint without query parameters', () => {
  it.each(['keys', 'signing-keys', 'recipes', 'watermark-presets', ''])(
    'ignores any query, even limit and cursor: %s',
    async (list) => {
      const path = `/v1/projects/${slug}${list && `/${list}`}`;
      const plain = await owner('GET', path);
      const { status, body } = await owner('GET', `${path}?limit=0&cursor=zzz&bogus=1`);
      expect([status, body]).toEqual([200, plain.body]);
    },
  );
});
