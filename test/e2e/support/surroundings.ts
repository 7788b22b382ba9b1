/**
 * The external dependencies of an installation: PostgreSQL, RabbitMQ, S3 and an identity provider run on this machine,
 * and a Service without a selector leads to each. E2E_HOST_ADDRESS is the address of this machine for pods. If servers
 * cannot listen on it, E2E_EXPOSE is a command that forwards a port from there to 127.0.0.1.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { type Servers, startServers } from '../../contract/support/servers.ts';
import { type DebianPostgres, startDebianPostgres } from '../../support/debian-postgres.ts';
import { makeSigningPair, startKeySetServer } from '../../support/key-set-server.ts';
import { startRabbitServer } from '../../support/rabbitmq-server.ts';
import { apply, kubectl, makeNamespace } from './kubectl.ts';
import { type SlowStorage, startSlowStorage } from './slow-storage.ts';

export type Surroundings = {
  /** URLs for pods. The database URL has no database name. */
  database_url: string;
  amqp_url: string;
  s3: Record<string, string>;
  issuer: string;
  jwks_url: string;
  /** URLs for this machine. */
  local: { s3_endpoint: string };
  postgres: DebianPostgres;
  servers: Servers;
  /** The object storage as pods use it. */
  storage: SlowStorage;
  token(sub: string): Promise<string>;
  stop(): Promise<void>;
};

export const SERVERS = 'tintype-e2e-servers';

export async function startSurroundings(): Promise<Surroundings> {
  const [servers, postgres, keySet] = await Promise.all([
    startServers(startRabbitServer),
    startDebianPostgres(),
    startKeySetServer(),
  ]);
  const storage = await startSlowStorage(servers.s3.endpoint);
  const pair = await makeSigningPair('k1');
  keySet.state.keys = [pair.jwk];
  await makeNamespace(SERVERS);
  const relays: Server[] = [];
  const offer = async (name: string, url: string) => {
    const { address, relay } = await expose(Number(new URL(url).port));
    if (relay !== undefined) relays.push(relay);
    await apply(SERVERS, serviceOf(name, address));
    const within = Object.assign(new URL(url), { hostname: `${name}.${SERVERS}.svc` });
    return Object.assign(within, { port: String(address.port) }).href;
  };
  const environment = await servers.environment();
  const jwks_url = await offer('identity', keySet.url);
  const issuer = new URL('/', jwks_url).href;
  const s3_endpoint = (await offer('s3', storage.endpoint)).replace(/\/$/, '');
  return {
    database_url: await offer('postgres', postgres.application('')),
    amqp_url: await offer('rabbitmq', servers.broker.url),
    s3: { ...environment, TINTYPE_S3_ENDPOINT: s3_endpoint },
    issuer,
    jwks_url,
    local: { s3_endpoint: servers.s3.endpoint },
    postgres,
    servers,
    storage,
    token: (sub) => pair.sign({ iss: issuer, sub, exp: Math.floor(Date.now() / 1000) + 3600 }),
    stop: async () => {
      await kubectl('delete', 'namespace', SERVERS, '--ignore-not-found');
      for (const relay of relays) relay.close();
      await storage.close();
      await Promise.all([servers.stop(), postgres.stop(), keySet.close()]);
    },
  };
}

type Address = { ip: string; port: number };

const runFile = promisify(execFile);

async function expose(port: number): Promise<{ address: Address; relay?: Server }> {
  const ip = process.env['E2E_HOST_ADDRESS'];
  if (ip === undefined) throw new Error('E2E_HOST_ADDRESS: where pods reach this machine');
  const command = process.env['E2E_EXPOSE'];
  if (command !== undefined) {
    await runFile('bash', ['-c', `${command} ${port}`]);
    return { address: { ip, port } };
  }
  const relay = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    incoming.pipe(outgoing).pipe(incoming);
    for (const end of [incoming, outgoing])
      end.on('error', () => incoming.destroy(outgoing.destroy().errored ?? undefined));
  });
  relay.listen(0, ip);
  await once(relay, 'listening');
  const bound = relay.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return { address: { ip, port: bound.port }, relay };
}

function serviceOf(name: string, { ip, port }: Address): object[] {
  const labels = { 'kubernetes.io/service-name': name };
  const ports = [{ name: 'tcp', port, protocol: 'TCP' }];
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [ip], conditions: { ready: true } }],
      ports,
    },
  ];
}
