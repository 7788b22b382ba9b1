/** Programs that a customer could write with generated types: a correct one, and calls that each have one mistake. */

export const client = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

export const connect = (baseUrl: string, key: string) =>
  createClient<paths>({ baseUrl, headers: { 'X-Api-Key': key } });

export const api = connect('http://localhost', 'key');
export const params = { path: { slug: 'demo' } };
`;

export const day = `
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from './client.ts';

const [, , url = '', key = '', slug = '', picture = ''] = process.argv;
const api = connect(url, key);
const path = { slug };

const bytes = await readFile(picture);
const created = await api.POST('/v1/projects/{slug}/uploads', {
  params: { path, header: { 'Idempotency-Key': 'typed-1' } },
  body: { content_type: 'image/png', size_bytes: bytes.length, file_slug: 'typed.png' },
});
if (created.data?.direct === undefined) throw new Error(JSON.stringify(created.error));
const { upload_id, direct } = created.data;
await fetch(direct.put_url, { method: 'PUT', headers: direct.headers, body: bytes });
const at = { params: { path: { slug, id: upload_id } } };
let { data: upload } = await api.POST('/v1/projects/{slug}/uploads/{id}/complete', at);
while (upload?.status === 'uploaded' || upload?.status === 'processing') {
  await sleep(50);
  upload = (await api.GET('/v1/projects/{slug}/uploads/{id}', at)).data;
}

const file = { params: { path: { slug, fileSlug: 'typed.png' } } };
const named = await api.PATCH('/v1/projects/{slug}/files/{fileSlug}', { ...file, body: { title: 'Typed' } });
const list = await api.GET('/v1/projects/{slug}/files', { params: { path, query: { status: 'ready', limit: 10 } } });
const signed = await api.POST('/v1/projects/{slug}/signed-url', {
  params: { path },
  body: { file_slug: 'typed.png', transform_chain: 'resize/32x24' },
});
const none = await api.GET('/v1/projects/{slug}/files/{fileSlug}', { params: { path: { slug, fileSlug: 'none' } } });
const code = none.error?.error.code;
const usage = await api.GET('/v1/projects/{slug}/usage', { params: { path } });

console.log(JSON.stringify({
  status: upload?.status,
  title: named.data?.title,
  slugs: list.data?.items.map(({ file_slug }) => file_slug),
  url: signed.data?.url,
  refused: \`\${none.response.status} \${code}\`,
  files: usage.data?.storage.file_count,
}));
`;

const wrong = (call: string) => `import { api, params } from './client.ts';\n${call}\n`;
const FILES = `'/v1/projects/{slug}/files'`;
const UPLOADS = `'/v1/projects/{slug}/uploads'`;

/** The wrong calls, by their mistake. */
export const wrongCalls: Readonly<Record<string, string>> = {
  'a-field-that-is-not-taken': [
    `import type { paths } from './api.d.ts';`,
    `type NewProject = paths['/v1/projects']['post']['requestBody']['content']['application/json'];`,
    `export const project: NewProject = { project_slug: 'shop', colour: 'red' };`,
  ].join('\n'),
  'a-field-of-another-type': wrong(
    `await api.POST(${UPLOADS}, { params, body: { content_type: 'image/png', size_bytes: '1' } });`,
  ),
  'a-field-that-is-missing': wrong(
    `await api.POST(${UPLOADS}, { params, body: { content_type: 'image/png' } });`,
  ),
  'a-word-that-is-none-of-the-choices': wrong(
    `await api.PATCH('/v1/projects/{slug}', { params, body: { delivery_access: 'secret' } });`,
  ),
  'a-path-that-is-not-there': wrong(`await api.GET('/v1/projects/{slug}/pictures', { params });`),
  'a-method-that-a-path-lacks': wrong(`await api.PUT(${FILES}, { params });`),
  'a-path-without-its-parameter': wrong(
    `await api.GET(${FILES}, { params: { ...params, path: {} } });`,
  ),
  'a-query-of-another-type': wrong(
    `await api.GET(${FILES}, { params: { ...params, query: { limit: 'ten' } } });`,
  ),
  'a-field-that-no-answer-has': wrong(
    `console.log((await api.GET(${FILES}, { params })).data?.total);`,
  ),
  'a-status-that-is-not-answered': [
    `import type { paths } from './api.d.ts';`,
    `export type Teapot = paths['/v1/projects']['post']['responses'][418];`,
  ].join('\n'),
  'a-code-that-is-not-answered': [
    `import { api } from './client.ts';`,
    `const { error } = await api.POST('/v1/projects', { body: { project_slug: 'shop' } });`,
    `if (error?.error.code === 'file_not_found') console.log(error);`,
  ].join('\n'),
};
