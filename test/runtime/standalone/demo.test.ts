// The sample project of a standalone Tintype, and its API key.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../../runtime/actions/change-api-keys.ts';
import { API_KEYS_ACTIVE_MAX } from '../../../runtime/core/limits.ts';
import { hashApiKey } from '../../../runtime/core/signing/api-key.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { ensureApiKey, findSampleProject } from '../../../runtime/standalone/demo.ts';
import { loadSecrets, type Secrets } from '../../../runtime/standalone/secrets.ts';
import { useDatabase } from '../../support/database.ts';
import { makeOrganization, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const lines: string[] = [];
const destination = { write: (line: string) => lines.push(line) };
const log = createLog({ level: 'warn', name: 'test', format: 'json', destination });
const none = {
  ...{ request_signing_secret: '', storage_event_secret: '', storage_url_secret: '' },
  ...{ provider_a_secret: '', provider_b_secret: '', key_encryption_keys: '', token_keys: '' },
  api_key: null,
};
let secrets: Secrets;
let dataFolder: string;
let organization_id: string;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'tintype-demo-'));
});
afterAll(() => rm(dataFolder, { recursive: true }));
beforeEach(async () => {
  await db.query('truncate organizations cascade');
  organization_id = (await makeOrganization(db)).organization_id;
  secrets = { ...none, api_keys: {} };
});

const make = (project_slug: string) => makeProject(db, { organization_id, project_slug });

it('the sample project is found behind a hundred newer projects', async () => {
  const { project_id } = await make('demo');
  for (let number = 0; number < 100; number += 1) await make(`other-${number}`);
  expect(await findSampleProject(db, organization_id)).toMatchObject({ project_id });
});

it("the oldest project is taken if the sample project is missing or another organization's", async () => {
  const elsewhere = await makeOrganization(db);
  expect(await findSampleProject(db, organization_id)).toBeUndefined();
  await makeProject(db, { organization_id: elsewhere.organization_id, project_slug: 'demo' });
  await make('older');
  await make('newer');
  expect(await findSampleProject(db, organization_id)).toMatchObject({ project_slug: 'older' });
});

it('the API key is created once, and audited as created by the system', async () => {
  const project = await make('demo');
  const deps = { db, clock: systemClock, log };
  const api_key = await ensureApiKey(deps, { project, secrets, dataFolder });
  expect(await ensureApiKey(deps, { project, secrets, dataFolder })).toBe(api_key);
  const earlier = { ...secrets, api_keys: {}, api_key: api_key ?? null };
  expect(await ensureApiKey(deps, { project, secrets: earlier, dataFolder })).toBe(api_key);
  expect((await loadSecrets(dataFolder)).api_keys).toEqual({ [project.project_id]: api_key });
  expect(await keysOf(project)).toEqual([hashApiKey(api_key ?? '')]);
  const reported = await db.query('select action, actor_kind from audit_log');
  expect(reported).toEqual([{ action: 'api_key.create', actor_kind: 'system' }]);
});

it('a project that has the maximum number of keys gets none', async () => {
  const project = await make('demo');
  const { project_id } = project;
  const key = { project_id, name: 'old', scopes: null, actor: { actor_kind: 'system' } } as const;
  for (let number = 0; number < API_KEYS_ACTIVE_MAX; number += 1) {
    await createApiKey({ db, clock: systemClock }, key);
  }
  const own = await mkdtemp(join(dataFolder, 'full-'));
  const deps = { db, clock: systemClock, log };
  expect(await ensureApiKey(deps, { project, secrets, dataFolder: own })).toBeUndefined();
  expect(await readdir(own)).toEqual([]);
  expect(lines.join()).toContain('gets no key');
});

async function keysOf({ project_id }: ProjectRow): Promise<string[]> {
  const rows = await db.query<{ secret_sha256: string }>(
    'select secret_sha256 from api_keys where project_id = $1',
    [project_id],
  );
  return rows.map((row) => row.secret_sha256);
}
