/**
 * Starts real nginx and HAProxy servers in front of delivery, with the configurations of docs/deployment.md and the
 * nginx cache of docs/cdn.md; only addresses and paths differ. Needs Debian's packages.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFences } from '../contract/support/blocks.ts';
import { endServer } from './end-server.ts';
import { freePort } from './free-port.ts';
import { untilServing } from './until-serving.ts';

export type FrontServer = { port: number; close(): Promise<void> };
type FrontName = 'nginx' | 'nginx with a cache' | 'HAProxy';
type Kind = {
  document: string;
  /** The address of delivery in the documented configuration. */
  delivery: string;
  begins: string;
  start(folder: string, config: string, port: number): ChildProcess;
};

const DEPLOYMENT = {
  document: 'docs/deployment.md',
  delivery: 'delivery.tintype.svc.cluster.local:8081',
};

/**
 * `start` adds what depends on the machine, such as file locations, and runs the server in the
 * foreground.
 */
const kinds: Readonly<Record<FrontName, Kind>> = {
  nginx: { ...DEPLOYMENT, begins: 'upstream delivery {', start: startNginx },
  'nginx with a cache': {
    document: 'docs/cdn.md',
    delivery: 'delivery:8081',
    begins: '# With the module ngx_cache_purge.',
    start: (folder, config, port) =>
      startNginx(folder, asServer(withoutModule(config, folder), port)),
  },
  HAProxy: {
    ...DEPLOYMENT,
    begins: 'defaults',
    start: (folder, config) => {
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(file, `${config}\n`);
      return spawn('/usr/sbin/haproxy', ['-db', '-f', file], { stdio });
    },
  },
};
const stdio = [
  'ignore',
  'ignore',
  'pipe',
] as const satisfies import('node:child_process').StdioOptions;

export async function startFront(name: FrontName, deliveryPort: number): Promise<FrontServer> {
  const kind = kinds[name];
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'tintype-front-'));
  // nginx workers do not run as root, so they need access to the folder.
  chmodSync(folder, 0o755);
  const config = documented(kind)
    .replaceAll(kind.delivery, `127.0.0.1:${deliveryPort}`)
    .replace(/\b(listen |bind :)80\b/, (_, word) => `${word.replace(':', '127.0.0.1:')}${port}`);
  const child = kind.start(folder, config, port);
  const close = () => endServer(child, folder);
  await untilServing(child, { name, look: () => accepts(port), end: close });
  return { port, close };
}

/** Returns the one block of the document that begins with `begins`. */
function documented({ document, delivery, begins }: Kind): string {
  const found = readFences(document).filter(({ text }) => text.startsWith(begins));
  const [{ text: config = '' } = {}] = found;
  if (found.length !== 1 || !config.includes(delivery)) {
    throw new Error(`${document} has no one block that begins with ${begins}`);
  }
  return config;
}

function startNginx(folder: string, config: string): ChildProcess {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${name};`)
    .join(' ');
  const http = `http { access_log off; ${temporary}\n${config}\n}`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `daemon off; pid nginx.pid; events {}\n${http}\n`);
  return spawn('/usr/sbin/nginx', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio });
}

/**
 * Moves the cache into the folder, and removes the directive of ngx_cache_purge, which Debian does
 * not package.
 */
function withoutModule(config: string, folder: string): string {
  return config
    .replace('/var/cache/nginx/images', join(folder, 'images'))
    .replace(/^ *proxy_cache_purge .*;\n/m, '');
}

function asServer(config: string, port: number): string {
  const [caches = '', location = ''] = config.split(/^(?=location )/m);
  return `${caches}server { listen 127.0.0.1:${port}; ${location} }`;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy());
    socket.once('close', (hadError) => resolve(!hadError)).on('error', () => undefined);
  });
}
