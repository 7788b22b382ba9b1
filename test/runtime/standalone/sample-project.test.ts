// The project that `tintype upload` and `tintype env` use by default, when projects are added, suspended or removed.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { hashApiKey } from '../../../runtime/core/signing/api-key.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import type { Instance } from '../../../runtime/platform/instance.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInstanceFile } from '../../../runtime/standalone/instance-file.ts';
import {
  type SampleProject,
  watchSampleProject,
} from '../../../runtime/standalone/sample-project.ts';
import { loadSecrets } from '../../../runtime/standalone/secrets.ts';
import { useDatabase } from '../../support/database.ts';
import { makeOrganization, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const deps = { db, clock: systemClock, log: createLog({ level: 'silent', name: 'test' }) };
let dataFolder: string;
let organization_id: string;
let samples: SampleProject[];

beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'tintype-sample-'));
});
afterAll(() => rm(dataFolder, { recursive: true }));
beforeEach(async () => {
  await db.query('truncate organizations cascade');
  organization_id = (await makeOrganization(db)).organization_id;
  samples = [];
});

async function follow(tell = async (sample: SampleProject) => void samples.push(sample)) {
  const secrets = await loadSecrets(dataFolder);
  return watchSampleProject(deps, { organization_id, secrets, dataFolder, report: tell });
}

const make = (project_slug: string) => makeProject(db, { organization_id, project_slug });
const slugs = () => samples.map(({ project_slug }) => project_slug);
const suspension = `update projects set status = 'suspended', suspended_by = 'owner' where project_slug = 'demo'`;

it('the sample project is announced once per change, and each project keeps its key', async () => {
  const look = await follow();
  await look();
  await make('shop');
  await Promise.all([look(), look(), look()]);
  await make('demo');
  await look();
  await db.query(suspension);
  await look();
  expect(slugs()).toEqual(['', 'shop', 'demo', 'shop']);
  expect(samples[3]).toEqual(samples[1]);
  expect(await db.query('select from api_keys')).toHaveLength(2);
});

it('the sample project is announced with another key once its key is revoked', async () => {
  await make('demo');
  const look = await follow();
  await look();
  const [first] = samples;
  await db.query(
    `update api_keys set status = 'revoked', revoked_at = now() where secret_sha256 = $1`,
    [hashApiKey(first?.api_key ?? '')],
  );
  await look();
  expect(slugs()).toEqual(['demo', 'demo']);
  expect(samples[1]?.api_key).not.toBe(first?.api_key);
});

it('the sample project is announced again if the announcement failed', async () => {
  await make('demo');
  let tries = 0;
  const look = await follow(async (sample) => {
    tries += 1;
    if (tries === 1) throw new Error('no space is left');
    samples.push(sample);
  });
  await expect(look()).rejects.toThrow('no space is left');
  await look();
  await look();
  expect([tries, slugs()]).toEqual([2, ['demo']]);
});

it('the instance file holds what was written last, and is not written again after its removal', async () => {
  const file = createInstanceFile(dataFolder);
  const named = (project_slug: string) => file.write({ project_slug } as Instance);
  await Promise.all([named('one'), named('two'), named('three')]);
  const path = join(dataFolder, 'instance.json');
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ project_slug: 'three' });
  await Promise.all([named('four'), file.remove(), named('five')]);
  await expect(readFile(path)).rejects.toThrow('ENOENT');
});
