// Spec: Limits, Uploads (unindexed-project threshold): a project with exactly that many files, and with one more.
import { expect, it } from 'vitest';
import { codeOf, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { libraryProject } from '../../../support/library-sessions.ts';
import { makeFile } from '../../../support/rows.ts';

const api = useApi();
const owner = api.session(newSubject());

it('a project at the file threshold is filtered, moved and searched; one more file returns 422', async () => {
  const { project, path, key, open } = await libraryProject(api, owner);
  const token = await open();
  const put = (file_slug: string) => makeFile(api.db, project, { file_slug });
  const codes = async (slug: string) => [
    codeOf(await key('GET', `${path}/files?library=press`)),
    codeOf(await key('GET', `${path}/files?library=press&search=ab`)),
    codeOf(await key('POST', `${path}/files/move`, { file_slugs: ['a'], folder: slug })),
    codeOf(await key('POST', `${path}/libraries`, { slug, name: 'New' })),
    codeOf(await token('GET', '/v1/library/files?search=ab')),
  ];
  api.change({ settings: { unindexedThreshold: 2 } });
  for (const slug of ['a', 'b']) await put(slug);
  expect(await codes('at')).toEqual(['200', '200', '200', '201', '200']);
  await put('c');
  expect(await codes('above')).toEqual(Array(5).fill('422 filter_unavailable'));
});
