// The secrets of `tintype up` must not appear in its log or its database, whether requests succeed or fail. Spec:
// Errors.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { type Canaries, createCanaries, dumpDatabase } from './support/canaries.ts';
import { call, deliver, withKey } from './support/client.ts';
import { removeFolder, startTintype, type Tintype } from './support/tintype.ts';
import { upload } from './support/upload.ts';

let tintype: Tintype;
const canaries: Canaries = createCanaries();

beforeAll(async () => {
  tintype = await startTintype({ env: { TINTYPE_LOG_LEVEL: 'debug' } });
  const { instance, data } = tintype;
  const secrets = JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8'));
  for (const [name, secret] of Object.entries(secrets)) {
    if (typeof secret === 'string' && /secret|keys/.test(name)) canaries.note(name, secret);
  }
  canaries.note('API key', instance.api_key);
  canaries.note('database password', new URL(instance.database_url).password);
});

afterAll(async () => {
  await tintype?.end('SIGTERM');
  await removeFolder(tintype.data);
});

it('`tintype up` writes none of its secrets to its log or database, even if requests contain them', async () => {
  const { instance } = tintype;
  const project = instance.project_slug;
  const key = withKey(tintype, instance.api_key);
  const bytes = await over(photograph(300, 200)).jpeg().toBuffer();
  const photo = { bytes, content_type: 'image/jpeg', file_slug: 'photo.jpg' };
  expect((await upload(key, project, photo)).status).toBe('ready');
  const path = '/resize/30x20/f/photo.jpg';
  expect((await deliver(tintype, { project, path })).status).toBe(200);
  for (const headers of [
    { 'x-api-key': `${instance.api_key}0` },
    { authorization: `Bearer ${instance.api_key}` },
    { authorization: `Bearer ${instance.request_signing_secret}` },
    { 'x-request-id': instance.request_signing_secret.slice(0, 5) },
  ]) {
    const target = `/v1/projects/${project}?key=${instance.api_key}`;
    await call(tintype, { method: 'GET', path: target, headers });
  }
  await deliver(tintype, { project, path: `/originals/f/x?sig=${instance.api_key}` });
  expect(canaries.count()).toBeGreaterThan(6);
  expect(tintype.stderr.length).toBeGreaterThan(5);
  expect(canaries.foundIn(tintype.stderr.join('\n'))).toEqual([]);
  expect(canaries.foundIn(await dumpDatabase(instance.database_url))).toEqual([]);
});
