/**
 * A deployment whose database, storage and CDN can fail, with clients that upload, view, and scrape metrics. Counts
 * what the deployment has promised to the clients.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '../../../runtime/db/client.ts';
import { type Caller, deliver, withKey } from '../../contract/support/client.ts';
import {
  type Deployment,
  type Environment,
  ofTheRun,
  type ProcessName,
  startDeployment,
  startProcess,
} from '../../contract/support/deployment.ts';
import { type Picture, sendUpload } from '../../contract/support/upload.ts';
import { freePort } from '../../support/free-port.ts';
import { type FullPostgres, startFullPostgres } from '../../support/full-postgres.ts';
import {
  type StorageFaultProxy,
  startStorageFaultProxy,
} from '../../support/storage-fault-proxy.ts';
import { type FaultProxy, startFaultProxy } from '../../support/tcp-fault-proxy.ts';
import { openTape, type Tape } from './tape.ts';

export const PROJECT = 'shop';
/**
 * Series of the job that runs once per real minute. A scrape counts as half a minute, so alerts
 * would get a wrong rate.
 */
const SAMPLING = /job="status-sampling"/;
const NOTHING = /^$/;

export type Night = {
  deployment: Deployment;
  /** Connects directly, not through the proxy of the processes. */
  db: Database;
  database: FaultProxy;
  /** The disk of PostgreSQL. */
  disk: Pick<FullPostgres, 'fill' | 'empty'>;
  storage: StorageFaultProxy;
  key: Caller;
  api_key: string;
  /** The ids of uploads whose complete call succeeded, and the number of complete deliveries. */
  books: { uploads: string[]; deliveries: number };
  upload(picture: Picture & { file_slug: string }): Promise<string>;
  /** Returns the status. Counts successful deliveries, which must be charged. */
  view(path: string): Promise<number>;
  /** Scrapes each process once. */
  look(tape: Tape): Promise<void>;
  /**
   * `withSampling` includes the series of the sampling job, for tests that run the job themselves.
   */
  newTape(how?: { withSampling: boolean }): Tape;
  restart(name: ProcessName, how?: { env?: Environment; inside?: string[] }): Promise<void>;
  /** The metrics URL of each process, as variables for typed commands. */
  watched(): Record<string, string>;
  stop(): Promise<void>;
};

export async function startNight(): Promise<Night> {
  const disk = await startFullPostgres();
  const direct = disk.url;
  const opened = { ...ofTheRun, createDatabase: async () => ({ url: direct, drop: disk.stop }) };
  const proxies: { database?: FaultProxy; storage?: StorageFaultProxy } = {};
  const deployment = await startDeployment(async (usual) => {
    const database = await startFaultProxy({ port: Number(new URL(direct).port) });
    const storage = await startStorageFaultProxy(usual['TINTYPE_S3_ENDPOINT'] ?? '');
    Object.assign(proxies, { database, storage });
    const [api, delivery] = [String(await freePort()), String(await freePort())];
    return {
      ...usual,
      TINTYPE_DATABASE_URL: Object.assign(new URL(direct), { port: String(database.port) }).href,
      TINTYPE_S3_ENDPOINT: storage.endpoint,
      TINTYPE_API_PORT: api,
      TINTYPE_BASE_URL: `http://127.0.0.1:${api}`,
      TINTYPE_DELIVERY_PORT: delivery,
      TINTYPE_DELIVERY_PUBLIC_PORT: delivery,
      TINTYPE_DELIVERY_SCHEME: 'http',
      TINTYPE_DELIVERY_ROOT_DOMAIN: 'localhost',
    };
  }, opened);
  deployment.instance.delivery_root_domain = 'localhost';
  const { database, storage } = proxies;
  if (database === undefined || storage === undefined) throw new Error('there are proxies');
  const db = createDatabase({ url: direct, maxConnections: 2 });
  const alice = await deployment.session('alice');
  await alice('POST', '/v1/projects', { project_slug: PROJECT });
  const made = await alice('POST', `/v1/projects/${PROJECT}/keys`, { name: 'server' });
  const api_key: string = made.body.plaintext_secret;
  const key = withKey(deployment, api_key);
  return {
    deployment,
    db,
    database,
    disk,
    storage,
    key,
    api_key,
    ...clients(deployment, key),
    stop,
  };

  async function stop() {
    await Promise.all(Object.values(deployment.processes).map((each) => each.end('SIGKILL')));
    await db.close();
    await deployment.stop();
    await Promise.all([database?.close(), storage?.close()]);
  }
}

function clients(deployment: Deployment, key: Caller) {
  const { processes, env } = deployment;
  const books = { uploads: [] as string[], deliveries: 0 };
  const upload: Night['upload'] = async (picture) => {
    const answer = await sendUpload(key, PROJECT, picture);
    if (answer.status !== 200) throw new Error(`not completed: ${answer.bytes}`);
    books.uploads.push(answer.body.upload_id);
    return answer.body.upload_id;
  };
  const view: Night['view'] = async (path) => {
    const { status } = await deliver(deployment, { project: PROJECT, path });
    if (status === 200) books.deliveries += 1;
    return status;
  };
  const watchUrl = (name: ProcessName) => `http://127.0.0.1:${processes[name].watch_port}`;
  const newTape: Night['newTape'] = (how) => openTape(how?.withSampling ? NOTHING : SAMPLING);
  const look: Night['look'] = async (tape) => {
    const names = Object.keys(processes) as ProcessName[];
    const pages = names.map(async (name) => {
      const answer = await fetch(`${watchUrl(name)}/metrics`).catch(() => undefined);
      return [`${name}-0`, await answer?.text()] as const;
    });
    tape.add(Object.fromEntries(await Promise.all(pages)));
  };
  const started_at = new Map<ProcessName, number>();
  const restart: Night['restart'] = async (name, { env: more = {}, inside = [] } = {}) => {
    await processes[name].end('SIGTERM');
    // Metrics give start times in seconds, so two starts within a second would count as one.
    await sleep(Math.max(0, (started_at.get(name) ?? 0) + 1_000 - Date.now()));
    started_at.set(name, Date.now());
    processes[name] = await startProcess(name, { ...env, ...more }, inside);
  };
  return {
    books,
    upload,
    view,
    look,
    newTape,
    restart,
    watched: () => ({
      API: watchUrl('api'),
      DELIVERY: watchUrl('delivery'),
      WORKER: watchUrl('worker'),
      DISPATCHER: watchUrl('dispatcher'),
    }),
  };
}
