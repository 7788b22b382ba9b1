/**
 * Starts a deployment: `tintype migrate` on its database, then every process, configured only by its environment,
 * on real PostgreSQL, S3 and RabbitMQ, with an identity provider and a CDN of the test.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CdnServer, startCdnServer } from '../../support/cdn-server.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeSigningPair, startKeySetServer } from '../../support/key-set-server.ts';
import { newSealingKey } from '../../support/sealing-keys.ts';
import { type Broker, takeVirtualHost } from '../../support/shared-broker.ts';
import { type Caller, type Target, withHeaders } from './client.ts';
import { type Servers, startServers } from './servers.ts';
import { fewDecoders, makeFolder, removeFolder, runTintype, spawnTintype } from './tintype.ts';

export const PROCESSES = ['api', 'worker', 'delivery', 'dispatcher'] as const;
export type ProcessName = (typeof PROCESSES)[number];

export type Environment = Record<string, string>;

export type Deployment = Target & {
  servers: Servers;
  cdn: CdnServer;
  env: Environment;
  processes: Record<ProcessName, DeployedProcess>;
  /** Mints an access token of the identity provider. */
  token(sub: string): Promise<string>;
  /** Opens a dashboard session with such a token. */
  session(sub: string): Promise<Caller>;
  stop(): Promise<void>;
};

export type DeployedProcess = {
  pid: number;
  /**
   * The port of the process's own server, if it has one; `watch_port` is for probes and metrics.
   */
  port: number | undefined;
  watch_port: number;
  lines: readonly string[];
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const START_MS_MAX = 120_000;
const ROOT_DOMAIN = 'img.test';

export type Opened = { createDatabase(): Promise<TestDatabase>; openBroker(): Promise<Broker> };
export const ofTheRun: Opened = {
  createDatabase: () => createTestDatabase(),
  openBroker: takeVirtualHost,
};

/**
 * `adapt` changes the usual environment of the processes. `opened` creates the database and opens
 * the broker; by default those of the test run, whose databases are migrated.
 */
export async function startDeployment(
  adapt: (usual: Environment) => Environment | Promise<Environment> = (usual) => usual,
  opened: Opened = ofTheRun,
): Promise<Deployment> {
  const [servers, database, keySet, cdn, spool] = await Promise.all([
    startServers(opened.openBroker),
    opened.createDatabase(),
    startKeySetServer(),
    startCdnServer(),
    makeFolder(),
  ]);
  const pair = await makeSigningPair('k1');
  keySet.state.keys = [pair.jwk];
  const issuer = new URL('/', keySet.url).href;
  const usual = {
    ...ownSecrets(),
    ...(await servers.environment()),
    TINTYPE_DATABASE_URL: database.url,
    TINTYPE_IDENTITY_ISSUER: issuer,
    TINTYPE_IDENTITY_JWKS_URL: keySet.url,
    TINTYPE_DELIVERY_ROOT_DOMAIN: ROOT_DOMAIN,
    TINTYPE_BASE_URL: 'http://api.test',
    TINTYPE_RATE_FAILED_AUTHENTICATIONS: '1000000',
    TINTYPE_SPOOL_DIR: join(spool, 'spool'),
    TINTYPE_API_PORT: '0',
    TINTYPE_DELIVERY_PORT: '0',
    TINTYPE_METRICS_PORT: '0',
    ...fewDecoders(),
    TINTYPE_CDN: 'http-purge',
    TINTYPE_CDN_URL: cdn.url,
    TINTYPE_CDN_TOKEN: 'token-of-the-cache',
  };
  const env = await adapt(usual);
  const { code, stderr } = await runTintype(['migrate'], { env });
  if (code !== 0) throw new Error(`migrate ended with ${code}: ${stderr}`);
  const started = await Promise.all(PROCESSES.map((name) => startProcess(name, env)));
  const [api, worker, delivery, dispatcher] = started as Four;
  const instance = {
    api_url: `http://127.0.0.1:${api.port}`,
    delivery_root_domain: ROOT_DOMAIN,
    delivery_port: delivery.port ?? 0,
    request_signing_secret: env['TINTYPE_REQUEST_SIGNING_SECRET'] ?? '',
  };
  const token = (sub: string) =>
    pair.sign({ iss: issuer, sub, exp: Math.floor(Date.now() / 1000) + 600 });
  return {
    servers,
    cdn,
    env,
    instance,
    processes: { api, worker, delivery, dispatcher },
    token,
    session: async (sub) => {
      const authorization = `Bearer ${await token(sub)}`;
      return withHeaders({ instance }, { authorization, 'x-identity-user-id': sub });
    },
    stop: async () => {
      await Promise.all(started.map((each) => each.end('SIGKILL')));
      const rest = [servers.stop(), database.drop(), keySet.close(), cdn.close()];
      await Promise.all([...rest, removeFolder(spool)]);
    },
  };
}

type Four = [DeployedProcess, DeployedProcess, DeployedProcess, DeployedProcess];

function ownSecrets() {
  return {
    TINTYPE_REQUEST_SIGNING_SECRET: randomBytes(16).toString('hex'),
    TINTYPE_STORAGE_EVENT_SECRET: randomBytes(16).toString('hex'),
    TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
    TINTYPE_TOKEN_KEYS: newSealingKey(),
  };
}

/**
 * Resolves when the process logs that it is ready. `inside` is a command that wraps the process.
 */
export async function startProcess(
  name: ProcessName,
  env: Record<string, string>,
  inside: readonly string[] = [],
): Promise<DeployedProcess> {
  const child = spawnTintype([name], { env, inside });
  const lines: string[] = [];
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const ready = new Promise<ReadyLine>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      const said = parseLine(line);
      if (said?.msg !== 'ready') return;
      clearTimeout(timer);
      resolve(said);
    });
    void ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with ${code}:\n${lines.join('\n')}`));
    });
  });
  const { port, watch_port } = await ready;
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { pid: child.pid ?? 0, port, watch_port, lines, end };
}

type ReadyLine = { msg: string; port?: number; watch_port: number };

function parseLine(line: string): ReadyLine | undefined {
  try {
    return JSON.parse(line) as ReadyLine;
  } catch {
    return undefined;
  }
}
