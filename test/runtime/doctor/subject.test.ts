// The doctor examines either the running Tintype with its own services, or those that the environment names; never a
// mix.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSubject } from '../../../runtime/doctor/subject.ts';
import { openJobDeps } from '../../../runtime/jobs/open-job-deps.ts';
import { writeInstance } from '../../support/instance-file.ts';

const env = {
  TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1',
  TINTYPE_AMQP_URL: 'amqp://127.0.0.1:1',
  TINTYPE_IDENTITY_JWKS_URL: 'http://127.0.0.1:1/elsewhere.json',
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-doctor-'));
  await writeInstance(folder, {
    api_url: 'http://localhost:8080',
    issuer: 'http://localhost:8080/identity',
    database_url: 'postgres://tintype@127.0.0.1:1/tintype',
  });
  await writeFile(join(folder, 'secrets.json'), JSON.stringify({ storage_url_secret: '00' }));
});
afterAll(() => rm(folder, { recursive: true }));

it('the doctor examines a running Tintype rather than the services that the environment names', async () => {
  const { db, storage, broker, jwksUrl } = await openSubject({ data: folder }, env);
  await db?.close();
  expect(storage).toMatchObject({ s3: undefined });
  expect([broker, jwksUrl]).toEqual(['embedded', 'http://localhost:8080/identity/jwks.json']);
});

it.each([
  ['the doctor', (data: string) => openSubject({ data }, {})],
  ['a job', (data: string) => openJobDeps(data, {})],
])(
  'without a running Tintype or configuration, %s says what is missing and what to do',
  async (_who, open) => {
    const none = join(folder, 'none');
    await expect(open(none)).rejects.toThrow(
      `TINTYPE_DATABASE_URL is not set, and no Tintype runs on ${none}: start it with \`make up\`, or name its folder with --data; for a deployment, set the variables`,
    );
  },
);

it('without a running Tintype, the doctor examines what the environment names', async () => {
  const { db, storage, broker } = await openSubject({ data: join(folder, 'none') }, env);
  expect([db, storage?.s3 === undefined, broker]).toEqual([undefined, false, env.TINTYPE_AMQP_URL]);
});

it('the doctor knows the delivery domain of a running Tintype, which CDN checks may need', async () => {
  const data = await mkdtemp(join(tmpdir(), 'tintype-doctor-'));
  await writeInstance(data, {
    api_url: 'http://localhost:8080',
    issuer: 'http://localhost:8080/identity',
    database_url: 'postgres://tintype@127.0.0.1:1/tintype',
    delivery_root_domain: 'localhost',
    environment: {
      ...{ TINTYPE_CDN: 'http-purge', TINTYPE_CDN_METHOD: 'PURGE' },
      TINTYPE_CDN_URL: 'http://127.0.0.1:1',
    },
  });
  await writeFile(join(data, 'secrets.json'), JSON.stringify({ storage_url_secret: '00' }));
  try {
    const { config, db } = await openSubject({ data }, {});
    await db?.close();
    expect(config).toMatchObject({ cdnMethod: 'PURGE', deliveryRootDomain: 'localhost' });
  } finally {
    await rm(data, { recursive: true });
  }
});
