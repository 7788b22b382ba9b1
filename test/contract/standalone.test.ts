// `tintype up` as a process: how it starts, stops, is killed and recovers, what it reports if it cannot start, and the
// folder of YAML that it watches.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { must } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { deliver, targetOf, withKey, withSession } from './support/client.ts';
import { diagnose, wrongIn } from './support/doctor.ts';
import { childrenOf, isRunning } from './support/processes.ts';
import {
  type Instance,
  launcher,
  makeFolder,
  makeStarted,
  projectRoot,
  removeFolder,
  runTintype,
  spawnTintype,
  startTintype,
  type Tintype,
  upArgs,
} from './support/tintype.ts';
import { upload } from './support/upload.ts';

const CALLS = [
  ...['up', 'upload', 'token', 'call', 'env', 'migrate', 'job'],
  ...['api', 'delivery', 'worker', 'dispatcher', 'doctor'],
];
const SIGNED_SECONDS_MIN = 60;

const WRONG = `apiVersion: tintype.dev/v1alpha1
kind: Project
metadata:
  name: wrong
spec:
  deliveryAccess: Open
`;

let data: string;
let config: string;
let running: Tintype | undefined;

function started(): Tintype {
  if (running === undefined) throw new Error('nothing runs');
  return running;
}

async function start(): Promise<Tintype> {
  running = await startTintype({ data, config });
  return running;
}

async function stop(signal: NodeJS.Signals): Promise<number | null> {
  const code = await started().end(signal);
  running = undefined;
  return code;
}

/** Polls until the condition holds, by default for ten seconds. */
const demo = () => withKey(started(), started().instance.api_key);
const postgresPid = () =>
  Number(readFileSync(join(data, 'postgres/data/postmaster.pid'), 'utf8').split('\n', 1)[0]);
const oneLine = (says: RegExp) =>
  expect.stringMatching(new RegExp(`^tintype: [^\n]*${says.source}[^\n]*\n$`));

beforeAll(async () => {
  data = join(await makeFolder(), 'made', 'by', 'itself');
  config = await makeFolder();
  await cp(join(projectRoot, 'config/samples'), config, { recursive: true });
  await writeFile(join(config, 'wrong.yaml'), WRONG);
  await start();
});

afterAll(async () => {
  await running?.end('SIGTERM');
  await Promise.all([join(data, '../../..'), config].map(removeFolder));
});

describe('Tintype on one machine', { shuffle: false }, () => {
  describe('a start', () => {
    it('prints exactly one JSON line with --json, which is also in a file that only its owner can read', async () => {
      const { stdout, instance } = started();
      expect(stdout).toHaveLength(1);
      const file = join(data, 'instance.json');
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(instance);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(Object.keys(instance).sort()).toEqual([
        'api_key',
        'api_url',
        'database_url',
        'delivery_port',
        'delivery_root_domain',
        'delivery_scheme',
        'environment',
        'issuer',
        'key_encryption_keys',
        'organization_id',
        'pid',
        'project_slug',
        'provider_a_secret',
        'provider_b_mode',
        'provider_b_secret',
        'request_signing_secret',
        'storage_event_secret',
        'token_keys',
      ]);
    });

    it('makes its secret files readable only by their owner', async () => {
      for (const file of ['secrets.json', 'identity-key.json', 'postgres/password']) {
        expect([file, (await stat(join(data, file))).mode & 0o777]).toEqual([file, 0o600]);
      }
      expect((await stat(data)).mode & 0o777).toBe(0o700);
    });

    it('is ready once it has printed that line', async () => {
      const answer = await demo()('GET', '/readyz');
      expect(answer.body).toEqual({
        ready: true,
        checks: { database: true, ingest: true, content: true },
      });
    });

    it('reports the line, field and expected values of an invalid document, and applies the others', async () => {
      const said = started().stderr.map((line) => JSON.parse(line));
      expect(said).toMatchObject([
        {
          file: 'wrong.yaml',
          line: 6,
          path: 'spec.deliveryAccess',
          problem: expect.stringMatching(/Public.*Protected.*"Open"/),
        },
      ]);
      const { status, body } = await demo()('GET', '/v1/projects/demo');
      expect([status, body.name]).toEqual([200, 'Demo']);
    });

    it('processes an upload, and has only decoders and PostgreSQL as child processes', async () => {
      const bytes = await over(photograph(640, 480)).jpeg().toBuffer();
      const picture = { bytes, content_type: 'image/jpeg', file_slug: 'kept.jpg' };
      expect((await upload(demo(), 'demo', picture)).status).toBe('ready');
      const commands = childrenOf(started().instance.pid);
      expect(commands.some((command) => command.includes('postgres'))).toBe(true);
      const others = commands.filter(
        (command) =>
          !/\/bin\/postgres |^postgres: |\/worker\/sandbox\/child\.ts 1\d$/.test(command),
      );
      expect(others).toEqual([]);
    });
  });

  describe('the folder of YAML documents', () => {
    const projectFile = () => join(config, 'project.yaml');
    const projectName = async () => (await demo()('GET', '/v1/projects/demo')).body.name;
    const change = async (from: string, to: string) => {
      const text = await readFile(projectFile(), 'utf8');
      await writeFile(projectFile(), text.replace(from, to));
    };

    it('is applied again within seconds when a document changes', async () => {
      await change('displayName: Demo', 'displayName: Changed');
      await until(async () => expect(await projectName()).toBe('Changed'));
    });

    it('keeps the last valid state while a document is invalid, and applies it once it is fixed', async () => {
      await change('displayName: Changed', 'displayName: 12');
      const reports = () => started().stderr.filter((line) => line.includes('spec.displayName'));
      await until(() => expect(reports()).not.toEqual([]));
      expect(await projectName()).toBe('Changed');
      await change('displayName: 12', 'displayName: Mended');
      await until(async () => expect(await projectName()).toBe('Mended'));
      expect(reports()).toHaveLength(1);
      await rm(join(config, 'wrong.yaml'));
    });
  });

  describe('a project declared in the folder', () => {
    it('is managed by sessions of its owner, and hidden from others', async () => {
      const owner = await withSession(started(), 'demo');
      expect((await owner('GET', '/v1/me')).body.organization.organization_id).toBe(
        started().instance.organization_id,
      );
      expect((await owner('GET', '/v1/projects/demo')).status).toBe(200);
      const stranger = await withSession(started(), 'stranger');
      expect((await stranger('GET', '/v1/projects/demo')).status).toBe(404);
    });

    it('takes files from `tintype upload --project`', async () => {
      const lines = [
        'apiVersion: tintype.dev/v1alpha1',
        'kind: Project',
        'metadata: { name: shop }',
        'spec: {}',
      ];
      await writeFile(join(config, 'shop.yaml'), `${lines.join('\n')}\n`);
      const picture = join(data, 'Summer Photo (1).jpg');
      await writeFile(picture, await over(photograph(640, 480)).jpeg().toBuffer());
      const owner = await withSession(started(), 'demo');
      await until(async () => expect((await owner('GET', '/v1/projects/shop')).status).toBe(200));
      const { code, stdout } = await runTintype([
        'upload',
        picture,
        '--project',
        'shop',
        '--data',
        data,
      ]);
      const { delivery_port } = started().instance;
      expect(stdout).toContain(
        `http://shop.localhost:${delivery_port}/originals/f/summer-photo-1.jpg\n`,
      );
      expect(code).toBe(0);
      const nowhere = await runTintype(['upload', picture, '--project', 'nope', '--data', data]);
      expect(nowhere.stderr).toEqual(oneLine(/demo, .* has no project nope: declare it .*--sub/));
      await rm(join(config, 'shop.yaml'));
      await until(async () => {
        expect((await owner('GET', '/v1/projects/shop')).body.status).toBe('suspended');
      });
    });

    it('is not the only one: `tintype upload --sub` takes a project of its person', async () => {
      const kite = await withSession(started(), 'kite');
      expect((await kite('POST', '/v1/projects', { project_slug: 'kite' })).status).toBe(201);
      const picture = join(data, 'kite.png');
      await writeFile(picture, await over(photograph(40, 30)).png().toBuffer());
      const words = ['upload', picture, '--project', 'kite', '--data', data];
      const other = await runTintype([...words, '--sub', 'stranger']);
      expect(other.stderr).toEqual(oneLine(/stranger has no project kite: .*--sub/));
      const { code, stdout } = await runTintype([...words, '--sub', 'kite']);
      expect(stdout).toContain('/originals/f/kite.png\n');
      expect(code).toBe(0);
    });
  });

  describe('a start that fails', () => {
    const taken = (option: string, port: number) =>
      runTintype([...upArgs(other), '--config', config, option, String(port)]);
    let other: string;

    beforeAll(async () => {
      other = await makeFolder();
    });
    afterAll(() => removeFolder(other));

    it('says that another Tintype is running on the same data folder, and what to do', async () => {
      const { code, stderr } = await runTintype([...upArgs(data), '--config', config]);
      expect(stderr).toEqual(oneLine(/another Tintype is running on .*--data/));
      expect(code).toBe(1);
    });

    it.each(['--api-port', '--delivery-port'])(
      'names the option of a port that is taken: %s',
      async (option) => {
        const server = await listenAnywhere();
        const { code, stderr, stdout } = await taken(option, server.port);
        await server.close();
        expect(stderr).toEqual(
          oneLine(new RegExp(`port ${server.port} is taken.*${option}.*make up ARGS=`)),
        );
        expect([code, stdout]).toEqual([1, '']);
      },
    );

    it('reports a missing --config folder before it starts PostgreSQL', async () => {
      const { code, stderr } = await runTintype([...upArgs(other), '--config', '/nowhere']);
      expect(stderr).toEqual(oneLine(/\/nowhere .*--config/));
      expect([code, existsSync(join(other, 'postgres'))]).toEqual([2, false]);
    });

    it('reports a data folder that is not writable', async () => {
      const readOnly = await makeFolder();
      await chmod(readOnly, 0o555);
      const run = { user: 'nobody' as const };
      const { code, stderr } = await runTintype([...upArgs(join(readOnly, 'data'))], run);
      await removeFolder(readOnly);
      expect(stderr).toEqual(oneLine(/cannot be written .*--data/));
      expect(code).toBe(1);
    });

    it('reports a full disk', async () => {
      const full = await makeFolder();
      const script =
        'mount -t tmpfs -o size=4k tmpfs "$0"; head -c 4096 /dev/zero > "$0/all"; "$@"';
      const inside = ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, full];
      const { code, stderr } = await runTintype(upArgs(join(full, 'data')), { inside });
      await removeFolder(full);
      expect(stderr).toEqual(oneLine(/cannot be written \(ENOSPC\).*--data/));
      expect(code).toBe(1);
    });

    it.each([
      ['package.json', /package\.json is a file.*--data/],
      ['/proc/nowhere/data', /cannot be written .*--data/],
    ])('reports that %s cannot be the data folder', async (folder, says) => {
      const { code, stderr } = await runTintype(upArgs(folder));
      expect(stderr).toEqual(oneLine(says));
      expect(code).toBe(1);
    });
  });

  describe('a start after SIGKILL', () => {
    let api_key: string;
    let file: unknown;
    let postgres: number;

    it('keeps the project, the API key, the file and the running PostgreSQL', async () => {
      const minted = await demo()('POST', '/v1/projects/demo/signed-url', {
        file_slug: 'kept.jpg',
        expires_in_seconds: SIGNED_SECONDS_MIN,
      });
      signed = minted.body;
      api_key = started().instance.api_key;
      file = (await demo()('GET', '/v1/projects/demo/files/kept.jpg')).body;
      postgres = postgresPid();
      expect(await stop('SIGKILL')).toBe(null);
      expect(isRunning(postgres)).toBe(true);

      const { instance } = await start();
      expect(instance.api_key).toBe(api_key);
      expect(postgresPid()).toBe(postgres);
      expect((await demo()('GET', '/v1/projects/demo/files/kept.jpg')).body).toEqual({
        ...(file as object),
        url: expect.any(String),
      });
    });

    it('still serves what was uploaded, and the URLs that were signed before', async () => {
      for (const path of ['/resize/100x/f/kept.jpg', targetOf(signed.url)]) {
        expect((await deliver(started(), { project: 'demo', path })).status).toBe(200);
      }
    });

    it('recovers if PostgreSQL was killed too, and warns if a newer version has used the database', async () => {
      const db = new pg.Client(started().instance.database_url);
      await db.connect();
      await db.query("insert into schema_migrations (name, run_on) values ('9999_later', now())");
      await db.end();
      process.kill(started().instance.pid, 'SIGKILL');
      process.kill(postgres, 'SIGKILL');
      await until(() => {
        expect([postgres, started().instance.pid].filter(isRunning)).toEqual([]);
      });
      const { stderr } = await start();
      const { status } = await demo()('GET', '/v1/projects/demo/files/kept.jpg');
      expect([status, started().instance.api_key]).toEqual([200, api_key]);
      const reported = stderr.filter((line) => line.includes('newer version'));
      expect(reported.map((line) => JSON.parse(line))).toMatchObject([
        { level: 'warn', version: '9999_later', count: 1 },
      ]);
    });
  });

  describe('a deleted project document', () => {
    it('suspends its project and disables its API key', async () => {
      await rm(join(config, 'project.yaml'));
      const key = demo();
      await until(async () => expect((await key('GET', '/v1/key')).status).toBe(401));
    });

    it('keeps its project suspended across a clean restart by SIGTERM', async () => {
      await expectCleanStop('SIGTERM');
      const { instance } = await start();
      expect([instance.project_slug, instance.api_key]).toEqual(['', '']);
      const path = '/originals/f/kept.jpg';
      const { status, body } = await deliver(started(), { project: 'demo', path });
      expect([status, body.error.code]).toEqual([403, 'project_suspended']);
    });

    it('reactivates its project once it is restored, and the API key works again', async () => {
      await cp(join(projectRoot, 'config/samples/project.yaml'), join(config, 'project.yaml'));
      const found = async (): Promise<Instance> =>
        JSON.parse(await readFile(join(data, 'instance.json'), 'utf8'));
      await until(async () => expect((await found()).project_slug).toBe('demo'));
      const key = withKey(started(), (await found()).api_key);
      expect((await key('GET', '/v1/key')).status).toBe(200);
    });

    it('leaves the restored project active across a clean restart by SIGINT', async () => {
      await expectCleanStop('SIGINT');
      const { instance } = await start();
      expect(instance.project_slug).toBe('demo');
      expect((await demo()('GET', '/v1/projects/demo/files/kept.jpg')).status).toBe(200);
    });

    async function expectCleanStop(signal: NodeJS.Signals): Promise<void> {
      const postgres = postgresPid();
      const { pid } = started().instance;
      expect(await stop(signal)).toBe(0);
      expect([pid, postgres].filter(isRunning)).toEqual([]);
      expect(existsSync(join(data, 'instance.json'))).toBe(false);
    }
  });

  describe('a user who is not root', () => {
    it('starts, uploads and stops like root', async () => {
      const own = await makeFolder('nobody');
      const tintype = await startTintype({ data: own, user: 'nobody' });
      const key = withKey(tintype, tintype.instance.api_key);
      const bytes = await over(photograph(64, 48)).png().toBuffer();
      const session = await upload(key, 'demo', { bytes, content_type: 'image/png' });
      expect(session.status).toBe('ready');
      expect((await stat(join(own, 'instance.json'))).uid).not.toBe(0);
      expect(await tintype.end('SIGTERM')).toBe(0);
      await removeFolder(own);
    });
  });

  describe('a signal during startup', () => {
    it.each([
      ['SIGTERM', 'postgres', (pid: number) => pid],
      // A terminal sends SIGINT to the whole process group.
      ['SIGINT', 'postgres/password.initdb', (pid: number) => -pid],
    ] as const)('stops it cleanly and leaves nothing running: %s', async (signal, sign, target) => {
      const own = await makeFolder();
      const child = spawnTintype(upArgs(own), { inside: ['setsid'] });
      const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
      const ended = new Promise((done) => child.once('exit', done));
      await until(() => expect(existsSync(join(own, sign))).toBe(true));
      process.kill(target(must(child.pid)), signal);
      expect(await ended).toBe(0);
      expect([await stdout, await stderr]).toEqual(['', '']);
      expect(existsSync(join(own, 'postgres/data/postmaster.pid'))).toBe(false);
      await removeFolder(own);
    });
  });

  describe('a full disk', () => {
    const full = (fd: number) => ['sh', '-c', `exec "$@" ${fd}>/dev/full`, 'sh'];

    it('does not stop a Tintype that cannot write its log', async () => {
      const own = await makeStarted();
      const env = { TINTYPE_LOG_LEVEL: 'info' };
      const child = spawnTintype(upArgs(own), { inside: full(2), env });
      const ended = new Promise((done) => child.once('exit', done));
      const ready = new Promise((done) => child.stdout.once('data', done));
      expect(String(await Promise.race([ready, ended]))).toContain('api_url');
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      await removeFolder(own);
    });

    it('fails a command that cannot write its output, with an error that says so', async () => {
      const { code, stderr } = await runTintype(['env', '--data', data], { inside: full(1) });
      expect(stderr).toEqual(oneLine(/cannot be written \(ENOSPC\): free space there/));
      expect(code).toBe(1);
    });
  });

  describe('closing the terminal', () => {
    it('stops Tintype cleanly and leaves nothing running', async () => {
      const own = await makeStarted();
      const words = ['up', '--data', own, '--api-port', '0', '--delivery-port', '0'];
      const command = [process.execPath, launcher, ...words].join(' ');
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'ignore' });
      const instance = join(own, 'instance.json');
      await until(() => expect(existsSync(instance)).toBe(true));
      const { pid } = JSON.parse(await readFile(instance, 'utf8'));
      terminal.kill('SIGKILL');
      await until(() => expect(isRunning(pid)).toBe(false));
      const left = ['instance.json', 'postgres/data/postmaster.pid'];
      expect(left.filter((name) => existsSync(join(own, name)))).toEqual([]);
      await removeFolder(own);
    });
  });

  describe('the tintype command', () => {
    it('explains every subcommand with --help', async () => {
      const all = await Promise.all(CALLS.map((call) => runTintype([call, '--help'])));
      expect(all.map(({ code, stdout }) => [code, stdout.split('\n', 1)[0]])).toEqual(
        CALLS.map((call) => [0, expect.stringContaining(`Usage: tintype ${call}`)]),
      );
    });

    it('exits with 2 and an error message for wrong usage', async () => {
      const wrong = [
        [],
        ['fly'],
        ['fly', '--help'],
        ['help', 'fly'],
        ['up', '--fast'],
        ['up', '--data', ''],
        ['env', '--data', ''],
        ['up', '--api-port', '99999'],
        ['up', '--api-port', '8080', '--delivery-port', '8080'],
        ['upload'],
        ['upload', 'a.jpg', 'b.jpg', '--slug', 'one'],
        ['call', 'GET'],
        ['call', 'FLY', '/v1/me'],
        ['call', 'GET', '//elsewhere.example/v1/me'],
        ['call', 'PATCH', '/v1/projects/demo', 'name=Demo'],
        ['job'],
        ['job', 'sleep'],
        ['job', 'daily-charge', '--at', 'tomorrow'],
        ['job', 'daily-charge', '--at', '2026-11-20T00:20:00'],
        ['job', 'daily-charge', '--at', '2026-02-30T00:20:00Z'],
        ['job', 'upload-sweep', '--at', '2026-11-20T08:00:00Z'],
      ];
      const all = await Promise.all(wrong.map((words) => runTintype(words)));
      const said = all.map(({ code, stdout, stderr }) => [code, stdout, stderr !== '']);
      expect(said).toEqual(wrong.map(() => [2, '', true]));
    });

    it('says that no Tintype is running and how to start one', async () => {
      const own = await makeFolder();
      const calls = [
        ...[['token'], ['env'], ['upload', 'photo.jpg'], ['doctor']],
        ['job', 'hourly-rollup'],
        ['call', 'GET', '/v1/me'],
      ];
      const all = await Promise.all(calls.map((words) => runTintype([...words, '--data', own])));
      await removeFolder(own);
      expect(all).toEqual(
        calls.map(() => ({ code: 1, stdout: '', stderr: oneLine(/no Tintype runs on .*make up/) })),
      );
    });

    it('says why an upload was rejected, and exits with 1', async () => {
      const { code, stderr, stdout } = await runTintype([
        'upload',
        'package.json',
        'missing.jpg',
        '--data',
        data,
      ]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/package\.json .*unsupported_content_type/);
      expect(stderr).toMatch(/missing\.jpg .*There is no such file/);
    });

    it('sends signed API calls as a given user, and prints the response', async () => {
      const path = '/v1/projects/demo';
      const body = '{"raw_download_enabled":true}';
      const { code, stdout } = await runTintype(['call', 'patch', path, body, '--data', data]);
      expect([code, JSON.parse(stdout).raw_download_enabled]).toEqual([0, true]);
      const staff = await runTintype(['call', 'GET', '/v1/me', '--staff', '--data', data]);
      expect(JSON.parse(staff.stdout)).toMatchObject({ user: { subject: 'staff' }, staff: true });
      const refused = await runTintype(['call', 'GET', path, '--sub', 'eve', '--data', data]);
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: oneLine(/not_found: /) });
    });

    it('finds no problem in a running Tintype with doctor', async () => {
      const diagnosis = await diagnose(['--data', data]);
      expect([diagnosis.code, wrongIn(diagnosis)]).toEqual([0, []]);
      const skipped = diagnosis.checks.filter(({ outcome }) => outcome === 'skipped');
      expect([...new Set(skipped.map(({ area }) => area))]).toEqual(['broker', 'CDN', 'scanner']);
      const { code, stdout } = await runTintype(['doctor', '--data', data]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^database\n {2}✓ reachable: PostgreSQL/);
    });

    it('prints a session as one line of JSON with token --json', async () => {
      const { code, stdout } = await runTintype([
        'token',
        '--json',
        '--sub',
        'eve',
        '--data',
        data,
      ]);
      expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
      const { token, sub, headers } = JSON.parse(stdout);
      expect([sub, headers]).toEqual([
        'eve',
        { authorization: `Bearer ${token}`, 'x-identity-user-id': 'eve' },
      ]);
    });
  });

  let signed: { url: string; expires_at: string };

  describe('a signed URL', () => {
    it('expires at its time, regardless of restarts in between', async () => {
      await sleep(Math.max(Date.parse(signed.expires_at) - Date.now(), 0) + 1000);
      const path = targetOf(signed.url);
      const { status, body } = await deliver(started(), { project: 'demo', path });
      expect([status, body.error.code]).toEqual([403, 'signature_expired']);
    }, 300_000);
  });

  async function listenAnywhere(): Promise<{ port: number; close(): Promise<void> }> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return { port, close: () => new Promise((done) => server.close(() => done())) };
  }
});
