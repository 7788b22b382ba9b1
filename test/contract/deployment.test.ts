// All processes of a deployment, on real PostgreSQL, S3 and RabbitMQ: from an empty database to a delivered image, what
// each process reports if something is missing, and how each stops.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { over, photograph } from '../support/pictures.ts';
import { startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { readFences, readShellBlocks } from './support/blocks.ts';
import { type Caller, deliver, withKey } from './support/client.ts';
import {
  type DeployedProcess,
  type Deployment,
  ofTheRun,
  PROCESSES,
  startDeployment,
  startProcess,
} from './support/deployment.ts';
import { type Diagnosis, diagnose, wrongIn } from './support/doctor.ts';
import { runTintype } from './support/tintype.ts';
import { identify } from './support/tools.ts';
import { sendUpload, upload, waitUntilEnded } from './support/upload.ts';

let deployment: Deployment;
let key: Caller;
let photo: Buffer;

beforeAll(async () => {
  deployment = await startDeployment((usual) => usual, {
    ...ofTheRun,
    createDatabase: () => createTestDatabase('template0'),
  });
  photo = await over(photograph(900, 600)).jpeg({ quality: 90 }).toBuffer();
  const alice = await deployment.session('alice');
  await alice('POST', '/v1/projects', { project_slug: 'shop' });
  const made = await alice('POST', '/v1/projects/shop/keys', { name: 'server' });
  key = withKey(deployment, made.body.plaintext_secret);
});

afterAll(() => deployment?.stop());

const picture = () => ({ bytes: photo, content_type: 'image/jpeg' });
/** Runs a block of the runbook in bash and returns its output. */
const type = async (block: string, env: Record<string, string> = {}) => {
  const words = ['--norc', '-euo', 'pipefail', '-c', block];
  const { stdout } = await promisify(execFile)('bash', words, { env: { ...process.env, ...env } });
  return stdout;
};
const RUNBOOK = 'docs/runbook/README.md';
const [, probes = '', logs = ''] = readShellBlocks(RUNBOOK);
/** The `| grep …` with which the runbook reduces a log to failures. */
const [, failures = ''] = /`(\| grep [^`]+)`/.exec(readFileSync(RUNBOOK, 'utf8')) ?? [];
const watched = async (port: number, path: string) => fetch(`http://127.0.0.1:${port}${path}`);

describe('Tintype as separate processes', { shuffle: false }, () => {
  describe('a deployment', () => {
    it('processes an upload and delivers an image rendered from it', async () => {
      const session = await upload(key, 'shop', { ...picture(), file_slug: 'photo.jpg' });
      expect([session.status, session.error_code]).toEqual(['ready', null]);
      const path = '/resize/300x200/format/webp/f/photo.jpg';
      const image = await deliver(deployment, { project: 'shop', path });
      expect(image.status).toBe(200);
      expect(await identify(image.bytes)).toEqual({ format: 'WEBP', width: 300, height: 200 });
      // The master and its half-way image of 720 px.
      const counts = await deployment.servers.countObjects();
      expect(counts).toMatchObject({ masters: 2, derived: 1 });
    });

    it('sends the CDN a purge when a file is deleted', async () => {
      const session = await upload(key, 'shop', { ...picture(), file_slug: 'gone.jpg' });
      expect(session.status).toBe('ready');
      const { seen } = deployment.cdn;
      const before = seen.length;
      expect((await key('DELETE', '/v1/projects/shop/files/gone.jpg')).status).toBe(204);
      await expect.poll(() => seen.length).toBe(before + 1);
      const { method, path, headers } = seen.at(-1) ?? {};
      expect([method, path, headers?.['authorization']]).toEqual([
        'BAN',
        '/',
        'Bearer token-of-the-cache',
      ]);
      expect(headers?.['surrogate-key']).toMatch(/^file_[0-9a-z]{26}$/);
    });

    it('serves /healthz and /readyz on the API port', async () => {
      const { port = 0 } = deployment.processes.api;
      expect(await (await watched(port, '/healthz')).json()).toEqual({ status: 'ok' });
      expect(await (await watched(port, '/readyz')).json()).toEqual({
        ready: true,
        checks: { database: true, ingest: true, content: true },
      });
    });

    it('answers the runbook’s commands on the metrics port', async () => {
      const port = String(deployment.processes.api.watch_port);
      const said = await type(probes.replaceAll('9464', port));
      // The body of the first response does not end with a line feed.
      expect(said).toMatch(/^\{"ready":true,"checks":\{.*?\}\}/);
      expect(said).toMatch(/tintype_dependency_ready\{.*\} 1$/m);
    });

    it.each(PROCESSES)('serves /livez, /readyz and /metrics for %s', async (name) => {
      const { watch_port } = deployment.processes[name];
      expect((await watched(watch_port, '/livez')).status).toBe(200);
      expect(await (await watched(watch_port, '/readyz')).json()).toEqual({
        ready: true,
        checks: { database: true, ingest: true, content: true },
      });
      expect(await (await watched(watch_port, '/metrics')).text()).toContain('tintype_');
      expect((await watched(watch_port, '/')).status).toBe(404);
    });

    it('runs a job configured by its environment only, as a CronJob does', async () => {
      const swept = await runTintype(['job', 'upload-sweep', '--data', '/nowhere'], {
        env: deployment.env,
      });
      expect(swept.code).toBe(0);
      expect(swept.stdout).toMatch(/^upload-sweep as of /);
    });
  });

  describe('tintype doctor', () => {
    const doctor = (env: Record<string, string> = {}, ...words: string[]) =>
      diagnose(['--data', '/nowhere', ...words], { ...deployment.env, ...env });

    it('prints the output shown in docs/deployment.md', async () => {
      const { TINTYPE_DATABASE_URL: url = '' } = deployment.env;
      const bare = Object.assign(new URL(url), { pathname: '/template1' }).href;
      const env = { ...deployment.env, TINTYPE_DATABASE_URL: bare };
      const { code, stdout } = await runTintype(['doctor', '--data', '/nowhere'], { env });
      const [shown] = readFences('docs/deployment.md').filter(
        ({ language }) => language === 'console',
      );
      const [command, ...lines] = shown?.text.trimEnd().split('\n') ?? [];
      expect([code, command, lines.pop()]).toEqual([1, '$ tintype doctor', '...']);
      // Versions and counts may differ.
      const withoutNumbers = (text: string) => text.replaceAll(/\d+(?:\.\d+)?/g, '0');
      expect(withoutNumbers(stdout).split('\n').slice(0, lines.length)).toEqual(
        lines.map(withoutNumbers),
      );
    });

    it('reports a bucket without a CORS rule for uploads by browsers', async () => {
      const found = await doctor();
      const wrong = ['ingest bucket: uploads by browsers (CORS)'];
      expect([found.code, found.ok, wrongIn(found)]).toEqual([1, false, wrong]);
    });

    it('adds the missing CORS rule with --fix-cors', async () => {
      const mended = await doctor({}, '--fix-cors');
      expect([mended.code, mended.ok, wrongIn(mended)]).toEqual([0, true, []]);
      expect(wrongIn(await doctor())).toEqual([]);
    });

    it('checks every dependency, and skips only the scanner', async () => {
      const { checks } = await doctor();
      const areas = [...new Set(checks.map(({ area }) => area))];
      expect(areas).toEqual([
        'database',
        'ingest bucket',
        'content bucket',
        'broker',
        'identity provider',
        'decoder sandbox',
        'webhooks',
        'CDN',
        'scanner',
      ]);
      const skipped = checks.filter(({ outcome }) => outcome === 'skipped');
      expect(skipped.map(({ area }) => area)).toEqual(['scanner']);
      const decoding = checks.find(({ name }) => name === 'decodes a picture');
      expect(decoding?.outcome).toBe('ok');
    });

    const elsewhere = (url: string) => Object.assign(new URL(url), { port: '1' }).href;
    type Fault = [
      string,
      (env: Record<string, string>) => Record<string, string>,
      check: string,
      says: RegExp,
    ];
    /** Each is of another dependency, so one run of the doctor finds them all. */
    const FAULTS: Fault[] = [
      [
        'a database that is not there',
        ({ TINTYPE_DATABASE_URL: url = '' }) => ({ TINTYPE_DATABASE_URL: elsewhere(url) }),
        'database: reachable',
        /TINTYPE_DATABASE_URL/,
      ],
      [
        'a bucket that is not there',
        () => ({ TINTYPE_CONTENT_BUCKET: 'no-such-bucket' }),
        'content bucket: there',
        /create it/,
      ],
      [
        'a public address that leads nowhere',
        () => ({ TINTYPE_S3_PUBLIC_ENDPOINT: 'http://127.0.0.1:1' }),
        'ingest bucket: presigned uploads',
        /TINTYPE_S3_PUBLIC_ENDPOINT/,
      ],
      [
        'a wrong password of the broker',
        ({ TINTYPE_AMQP_URL: url = '' }) => ({
          TINTYPE_AMQP_URL: Object.assign(new URL(url), { password: 'wrong' }).href,
        }),
        'broker: login',
        /password.*TINTYPE_AMQP_URL/,
      ],
      [
        'an identity provider that is away',
        () => ({ TINTYPE_IDENTITY_JWKS_URL: 'http://127.0.0.1:1/jwks.json' }),
        'identity provider: key set',
        /TINTYPE_IDENTITY_JWKS_URL/,
      ],
      [
        'a CDN that is not there',
        ({ TINTYPE_CDN_URL: url = '' }) => ({ TINTYPE_CDN_URL: elsewhere(url) }),
        'CDN: purges',
        /TINTYPE_CDN_URL/,
      ],
      [
        'a scanner that is not there',
        () => ({ TINTYPE_SCANNER: 'http', TINTYPE_SCANNER_URL: 'http://127.0.0.1:1/scan' }),
        'scanner: a picture',
        /docs\/scanner\.md/,
      ],
    ];
    const OTHER_FAULTS: Fault[] = [
      [
        'a database that lacks everything',
        ({ TINTYPE_DATABASE_URL: url = '' }) => ({
          TINTYPE_DATABASE_URL: Object.assign(new URL(url), { pathname: '/template1' }).href,
        }),
        'database: migrated',
        /tintype migrate/,
      ],
      [
        'a wrong secret key',
        () => ({ AWS_SECRET_ACCESS_KEY: 'another' }),
        'ingest bucket: there',
        /AWS_SECRET_ACCESS_KEY/,
      ],
    ];

    describe.each([[FAULTS], [OTHER_FAULTS]])('with several faults', (faults) => {
      let diagnosis: Diagnosis;
      beforeAll(async () => {
        const changes = faults.map(([, change]) => change(deployment.env));
        diagnosis = await doctor(Object.assign({}, ...changes));
      });

      it.each(faults)('advises how to fix %s', (_what, _change, check, says) => {
        expect(diagnosis.code).toBe(1);
        expect(wrongIn(diagnosis)).toContain(check);
        const found = diagnosis.checks.find(({ area, name }) => `${area}: ${name}` === check);
        expect(found?.advice).toMatch(says);
      });
    });

    it('warns if webhooks may be sent to any address', async () => {
      const { checks, ok } = await doctor({ TINTYPE_CALLBACK_EGRESS: 'any' });
      expect([ok, checks.find(({ name }) => name === 'egress')?.outcome]).toEqual([
        true,
        'warning',
      ]);
    });
  });

  describe('two delivery processes and two workers', () => {
    const more = async (name: 'delivery' | 'worker') =>
      startProcess(name, {
        ...deployment.env,
        TINTYPE_SPOOL_DIR: join(deployment.env['TINTYPE_SPOOL_DIR'] ?? '', '..', 'second'),
      });
    let second: { delivery: DeployedProcess; worker: DeployedProcess };

    beforeAll(async () => {
      second = { delivery: await more('delivery'), worker: await more('worker') };
      await upload(key, 'shop', { ...picture(), file_slug: 'cold.jpg' });
    });
    afterAll(() => Promise.all(Object.values(second).map((each) => each.end('SIGTERM'))));

    // Counts AVIF renders only, because the status page's sampling job renders a WebP each minute.
    const rendersOf = async ({ watch_port }: DeployedProcess) => {
      const metrics = await (await watched(watch_port, '/metrics')).text();
      const counts = metrics.matchAll(/^tintype_render_seconds_count\{.*"avif".*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const renders = async () =>
      (await rendersOf(deployment.processes.worker)) + (await rendersOf(second.worker));
    const viewers = (paths: readonly string[]) =>
      Promise.all(
        paths.map((path, at) =>
          deliver(
            { instance: { ...deployment.instance, ...(at % 2 ? portOf(second.delivery) : {}) } },
            { project: 'shop', path },
          ),
        ),
      );
    const portOf = ({ port = 0 }: DeployedProcess) => ({ delivery_port: port });

    // Every path is new, even when vitest retries a test, so no image is stored yet.
    let width = 420;
    const pathOfNext = () => `/resize/${width++}x/format/avif/f/cold.jpg`;
    const said = (answers: Awaited<ReturnType<typeof viewers>>) =>
      new Set(answers.map(({ status, body }) => (status === 200 ? 'served' : body.error.code)));

    it('render an image once for 200 concurrent viewers', async () => {
      const before = await renders();
      const path = pathOfNext();
      const answers = await viewers(Array.from({ length: 200 }, () => path));
      expect(said(answers)).toEqual(new Set(['served']));
      expect(new Set(answers.map(({ bytes }) => bytes.toString('base64'))).size).toBe(1);
      expect((await renders()) - before).toBe(1);
    });

    it('return 503 busy with Retry-After under overload, and keep serving cache hits', async () => {
      const cold = Array.from({ length: 400 }, (_, at) => `/resize/${300 + at}x/f/cold.jpg`);
      const hit = pathOfNext();
      expect(said(await viewers([hit, hit]))).toEqual(new Set(['served']));
      const flood = viewers(cold);
      const hits = await viewers(Array.from({ length: 50 }, () => hit));
      expect(said(hits)).toEqual(new Set(['served']));
      const answers = await flood;
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused.length).toBeGreaterThan(0);
      for (const { headers, body } of refused) {
        expect(body.error.code).toBe('busy');
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      }
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(400 - refused.length);
    });
  });

  describe('stopping a process', () => {
    /** Logged by the job that samples public addresses, which lead nowhere in this test. */
    const UNTRIED = 'a service is failing its check';
    const stateOf = async (uploadId: string) =>
      (await key('GET', `/v1/projects/shop/uploads/${uploadId}`)).body.status;

    it('still lets every upload in progress become ready', async () => {
      const second = await startProcess('worker', deployment.env);
      const sent = await Promise.all(
        Array.from({ length: 6 }, () => sendUpload(key, 'shop', picture())),
      );
      const states = () => Promise.all(sent.map(({ body }) => stateOf(body.upload_id)));
      await expect.poll(states).toContain('processing');
      const { worker } = deployment.processes;
      expect(await worker.end('SIGTERM')).toBe(0);
      const ended = await Promise.all(
        sent.map(({ body }) => waitUntilEnded(key, 'shop', body.upload_id)),
      );
      expect(ended.map(({ status }) => status)).toEqual(sent.map(() => 'ready'));
      deployment.processes.worker = second;
    });

    it.each(['delivery', 'dispatcher', 'worker', 'api'] as const)(
      'exits with 0 and logs no warning after SIGTERM: %s',
      async (name) => {
        const ended = deployment.processes[name];
        expect(await ended.end('SIGTERM')).toBe(0);
        const isLoud = ({ level, msg }: { level: string; msg: string }) =>
          !['debug', 'info'].includes(level) && msg !== UNTRIED;
        const loud = ended.lines.map((line) => JSON.parse(line)).filter(isLoud);
        expect(loud).toEqual([]);
      },
    );
  });

  describe('a process that cannot start', () => {
    const without = (...names: string[]) =>
      Object.fromEntries([
        ...Object.entries(deployment.env),
        ...names.map((name) => [name, ''] as const),
      ]);
    const needs = {
      api: ['TINTYPE_BASE_URL', 'TINTYPE_TOKEN_KEYS', 'TINTYPE_IDENTITY_ISSUER'],
      worker: ['TINTYPE_DATABASE_URL', 'TINTYPE_S3_ENDPOINT', 'TINTYPE_AMQP_URL'],
      delivery: ['TINTYPE_DELIVERY_ROOT_DOMAIN', 'TINTYPE_SPOOL_DIR'],
      dispatcher: ['TINTYPE_DATABASE_URL', 'TINTYPE_AMQP_URL'],
    };

    it.each(PROCESSES)('names every missing environment variable at once: %s', async (name) => {
      const { code, stdout, stderr } = await runTintype([name], { env: without(...needs[name]) });
      expect([code, stdout]).toEqual([1, '']);
      const named = stderr.match(/^ {2}\w+(?=: expected)/gm)?.map((line) => line.trim());
      expect(named?.sort()).toEqual([...needs[name]].sort());
    });

    it.each([
      ['TINTYPE_DATABASE_URL', '/not_there', /"not_there" does not exist.*TINTYPE_DATABASE_URL/],
      ['TINTYPE_AMQP_URL', '/not_there', /no such virtual host.*TINTYPE_AMQP_URL/],
    ])('explains in one line what is wrong with %s', async (name, pathname, says) => {
      const url = Object.assign(new URL(deployment.env[name] ?? ''), { pathname });
      const env = { ...deployment.env, [name]: url.href };
      const { code, stderr } = await runTintype(['api'], { env });
      expect(code).toBe(1);
      expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(says)]);
    });
  });

  describe('a process that starts before its database', () => {
    it('stays live, logs what it waits for, and starts once the database is available', async () => {
      const url = new URL(deployment.env['TINTYPE_DATABASE_URL'] ?? '');
      const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port) });
      proxy.set({ kind: 'refuse' });
      url.port = String(proxy.port);
      const port = await freePort();
      const env = { TINTYPE_DATABASE_URL: url.href, TINTYPE_METRICS_PORT: String(port) };
      const starting = startProcess('dispatcher', { ...deployment.env, ...env });
      const readiness = async () => {
        const answer = await watched(port, '/readyz').catch(() => undefined);
        return answer && [answer.status, await answer.json()];
      };
      await expect.poll(readiness).toEqual([503, { ready: false, checks: { database: false } }]);
      expect((await watched(port, '/livez')).status).toBe(200);
      await expect.poll(() => proxy.connections().total).toBeGreaterThan(1);
      proxy.set({ kind: 'none' });
      const started = await starting;
      expect(await readiness()).toMatchObject([200, { ready: true }]);
      // Copied, because the process keeps writing log lines.
      const lines = [...started.lines];
      const [line = ''] = lines.filter((each) => each.includes('waits for it'));
      expect(JSON.parse(line)).toMatchObject({
        dependency: 'database',
        error: {
          message: expect.stringMatching(/^the database cannot be used \(.*\): is TINTYPE_/),
        },
      });
      const log = join(dirname(deployment.env['TINTYPE_SPOOL_DIR'] ?? ''), 'log');
      await writeFile(log, `${lines.join('\n')}\n`);
      // Replaces kubectl, which reads the log from a node.
      const show = `kubectl() { cat "$LOG"; }\n${logs.trimEnd()}`;
      const all = await type(show, { LOG: log });
      expect(all.trimEnd().split('\n')).toEqual(lines);
      const failed = await type(`${show} ${failures}`, { LOG: log });
      expect(failed.trimEnd().split('\n')).toContain(line);
      expect(failed).not.toContain('"level":"info"');
      expect(await started.end('SIGTERM')).toBe(0);
      await proxy.close();
    });
  });
});
