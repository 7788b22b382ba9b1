// Runs docs/walkthroughs/platform.md as written, on a control plane without nodes. The operator and its migrations are
// local processes with the rights and Secrets that the chart and the ImageService give them, the database is Debian's
// PostgreSQL with its pg_dump, and broker and storage are real. test/e2e runs the same on a node.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase } from '../../runtime/db/client.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { type Servers, startServers } from '../contract/support/servers.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { findKubeTool } from '../support/kube-tools.ts';
import { makeFile, must } from '../support/rows.ts';
import { nameBackups, openPlatform, type Platform } from './support/platform.ts';
import { type PodProcesses, runPods } from './support/pod-processes.ts';

const HOME = 'tintype-system';
const TEAM = 'team-images';

// A separate control plane, because the test installs the chart and removes its definitions.
let plane: ControlPlane;
let servers: Servers;
let postgres: DebianPostgres;
let pods: PodProcesses;
let platform: Platform;

beforeAll(async () => {
  [plane, servers, postgres] = await Promise.all([
    startControlPlane(),
    startServers(),
    startDebianPostgres(),
  ]);
  await deleteDefinitions();
  pods = runPods(plane, HOME);
  platform = await openPlatform({
    kubeconfig: kubeconfig(),
    tools: [postgres.bin, dirname(process.execPath)],
    here: await nameHere(),
  });
}, 300_000);

afterAll(async () => {
  await platform?.close();
  await pods?.stop();
  await Promise.all([plane?.stop(), servers?.stop(), postgres?.stop()]);
});

const kubeconfig = () => join(plane.folder, 'admin.kubeconfig');

/** The values that replace the examples of the document. */
async function nameHere(): Promise<Record<string, string>> {
  const s3 = await servers.environment();
  const backups = await servers.bucket('backups');
  return {
    'postgres://tintype:password@db.internal:5432/': postgres.application(''),
    'postgres://postgres:password@db.example.com:5432': postgres.admin('').replace(/\/$/, ''),
    'owner tintype': `owner ${postgres.role}`,
    '--role=tintype': `--role=${postgres.role}`,
    'amqp://tintype:password@mq.internal:5672': servers.broker.url,
    AKIAEXAMPLE: s3['AWS_ACCESS_KEY_ID'] ?? '',
    'AWS_SECRET_ACCESS_KEY=example': `AWS_SECRET_ACCESS_KEY=${s3['AWS_SECRET_ACCESS_KEY']}`,
    'https://s3.eu-central-1.amazonaws.com': s3['TINTYPE_S3_ENDPOINT'] ?? '',
    'region: eu-central-1': 'region: us-east-1, addressing: Path',
    'example-tintype-ingest': s3['TINTYPE_INGEST_BUCKET'] ?? '',
    'example-tintype-content': s3['TINTYPE_CONTENT_BUCKET'] ?? '',
    ...nameBackups(backups),
  };
}

async function kubectl(...args: string[]): Promise<string> {
  const all = ['--kubeconfig', kubeconfig(), ...args];
  const { stdout } = await promisify(execFile)(findKubeTool('kubectl'), all);
  return stdout;
}

const DELETIONS_MAX = 6;

/**
 * An API server that fails to remove a definition, for example because it has not loaded it yet,
 * pauses longer and longer; a change of the definition makes it try at once.
 */
async function deleteDefinitions(): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    try {
      return void (await kubectl('delete', 'crd', '--all', '--timeout=20s'));
    } catch (error) {
      if (turn === DELETIONS_MAX) throw error;
      await kubectl('annotate', 'crd', '--all', '--overwrite', `example.com/turn=${turn}`);
    }
  }
}

async function read(namespace: string, ...what: string[]) {
  return JSON.parse(await kubectl('--namespace', namespace, 'get', ...what, '--output', 'json'));
}

type ProjectSeen = {
  project_id: string;
  project_slug: string;
  name: string;
  status: string;
  delivery_access: string;
  raw_download_enabled: boolean;
  file_count: number;
  active_signing_kid: string;
};

function projectsOf(database: string): Promise<ProjectSeen[]> {
  return postgres.query(
    database,
    `select project_id, project_slug, name, status, delivery_access, raw_download_enabled, file_count,
       (select kid from signing_keys k where k.project_id = p.project_id and k.status = 'active') as active_signing_kid
     from projects p order by 2`,
  );
}

/** Creates a file as by an upload; no resource declares it. */
async function uploadTo(database: string, file_slug: string): Promise<void> {
  const db = createDatabase({ url: postgres.admin(database), maxConnections: 1 });
  try {
    await makeFile(db, must(await findProjectBySlug(db, 'studio')), { file_slug });
  } finally {
    await db.close();
  }
}

const filesOf = async (database: string) =>
  (await postgres.query<{ file_slug: string }>(database, 'select file_slug from files')).map(
    ({ file_slug }) => file_slug,
  );

const lose = (database: string) =>
  postgres.query('postgres', `drop database ${database} with (force)`);

describe('an installation in the platform engineer’s walkthrough', { shuffle: false }, () => {
  it('is installed with the projects that are declared in Git', async () => {
    await platform.step('prepare');
    const seen = await platform.step('install');
    expect(seen).toContain('imageservice.tintype.dev/main condition met');
    expect(await projectsOf('tintype')).toMatchObject([
      { project_slug: 'archive', raw_download_enabled: true },
      { project_slug: 'press', delivery_access: 'protected' },
      { project_slug: 'studio', name: 'Studio', status: 'active' },
    ]);
    const { status } = await read(TEAM, 'project', 'studio');
    expect(status.defaultHost).toBe('studio.img.example.com');
  }, 300_000);

  it('is upgraded to the new image in every Deployment', async () => {
    await platform.step('upgrade');
    const { items } = await read(HOME, 'deployments');
    const images = items.map(
      (each: { spec: { template: { spec: { containers: { image: string }[] } } } }) =>
        each.spec.template.spec.containers[0]?.image,
    );
    expect(images).toHaveLength(6);
    expect(new Set(images)).toEqual(new Set(['registry.example.com/tintype:1.3.0']));
  }, 300_000);

  let before: ProjectSeen[];

  it('is backed up, and keeps working', async () => {
    await uploadTo('tintype', 'kept.jpg');
    before = await projectsOf('tintype');
    await platform.step('backup');
    await uploadTo('tintype', 'since.jpg');
    expect((await projectsOf('tintype')).at(-1)).toMatchObject({
      name: 'Film Studio',
      file_count: 2,
    });
  }, 300_000);

  it('is restored from the backup, with the declarations made since', async () => {
    await lose('tintype');
    expect(await platform.step('restore')).toMatch(/ studio +\| Film Studio \| active \| +1\n/);
    const [archive, press, studio] = before;
    expect(await projectsOf('tintype2')).toEqual([
      archive,
      press,
      { ...studio, name: 'Film Studio' },
    ]);
    expect(await filesOf('tintype2')).toEqual(['kept.jpg']);
  }, 300_000);

  it('is rebuilt from its resources only, with new keys and without files', async () => {
    await lose('tintype2');
    expect(await platform.step('rebuild')).toMatch(/ studio +\| Film Studio \| active \| +0\n/);
    const after = await projectsOf('tintype3');
    expect(after).toMatchObject([
      { project_slug: 'archive', raw_download_enabled: true },
      { project_slug: 'press', delivery_access: 'protected' },
      { project_slug: 'studio', name: 'Film Studio' },
    ]);
    const names = ({ project_id, active_signing_kid }: ProjectSeen) => [
      project_id,
      active_signing_kid,
    ];
    expect(after.flatMap(names).filter((name) => before.flatMap(names).includes(name))).toEqual([]);
    expect(await filesOf('tintype3')).toEqual([]);
  }, 300_000);

  // As when a cloud service restores a database in place.
  it('recovers if its database is recreated empty under a running operator', async () => {
    await lose('tintype3');
    await postgres.query('postgres', `create database tintype3 owner ${postgres.role}`);
    const looked = `looked-at=${Date.now()}`;
    await kubectl('--namespace', HOME, 'annotate', 'imageservice/main', '--overwrite', looked);
    await vi.waitFor(async () => expect(await filesOf('tintype3')).toEqual([]), 120_000);
    // The first pass of any resource detects the new database, for all resources.
    const patch = JSON.stringify({ spec: { displayName: 'Papers' } });
    await kubectl('--namespace', TEAM, 'patch', 'project/press', '--type=merge', '--patch', patch);
    await vi.waitFor(async () => expect(await projectsOf('tintype3')).toHaveLength(3), 120_000);
    expect((await projectsOf('tintype3'))[1]?.name).toBe('Papers');
  }, 300_000);

  it('is uninstalled completely, except for the database', async () => {
    expect(await platform.step('uninstall')).toMatch(/nothing is left\n$/);
    const states = (await projectsOf('tintype3')).map((each) => [each.project_slug, each.status]);
    expect(states).toEqual([
      ['archive', 'active'],
      ['press', 'suspended'],
      ['studio', 'suspended'],
    ]);
  }, 300_000);
});
