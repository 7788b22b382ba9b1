/**
 * Real nginx and HAProxy on free ports with the very configurations of docs/deployment.md, but for the addresses: what
 * listens to browsers in front of delivery. Debian's, in folders of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../runtime/platform/http/free-port.ts';
import { endServer } from './end-server.ts';

export type FrontServer = { port: number; close(): Promise<void> };
type Start = (folder: string, config: string) => ChildProcess;

const DOCUMENT = new URL('../../docs/deployment.md', import.meta.url);
const DELIVERY = 'delivery.tintype.svc.cluster.local:8081';
const STARTING_MS_MAX = 120_000;

/** The rest of a configuration is the machine's: where its files lie, and that it stays in the foreground. */
const kinds: Readonly<Record<'nginx' | 'HAProxy', { begins: string; start: Start }>> = {
  nginx: {
    begins: 'upstream delivery {',
    start: (folder, config) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${name};`)
        .join(' ');
      const http = `http { access_log off; ${temporary}\n${config}\n}`;
      const file = join(folder, 'nginx.conf');
      writeFileSync(file, `daemon off; pid nginx.pid; events {}\n${http}\n`);
      return spawn('/usr/sbin/nginx', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio });
    },
  },
  HAProxy: {
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

export async function startFront(
  name: keyof typeof kinds,
  deliveryPort: number,
): Promise<FrontServer> {
  const { begins, start } = kinds[name];
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'tintype-front-'));
  // The workers of nginx are not root.
  chmodSync(folder, 0o755);
  const config = documented(begins)
    .replaceAll(DELIVERY, `127.0.0.1:${deliveryPort}`)
    .replace(/\b(listen |bind :)80\b/, (_, word) => `${word.replace(':', '127.0.0.1:')}${port}`);
  const child = start(folder, config);
  await listens(port, child);
  return {
    port,
    close: () => endServer(child, folder),
  };
}

/** The one block of the document that begins so. */
function documented(begins: string): string {
  const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```text\n([\s\S]*?)```/g)];
  const found = blocks.flatMap(([, text = '']) => (text.startsWith(begins) ? [text] : []));
  const [config = ''] = found;
  if (found.length !== 1 || !config.includes(DELIVERY)) {
    throw new Error(`docs/deployment.md has no one block that begins with ${begins}`);
  }
  return config;
}

async function listens(port: number, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (part) => {
    said += String(part);
  });
  for (const end = Date.now() + STARTING_MS_MAX; Date.now() < end; ) {
    if (child.exitCode !== null) break;
    if (await accepts(port)) return;
    await sleep(30);
  }
  child.kill('SIGKILL');
  throw new Error(`it did not start: ${said}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy());
    socket.once('close', (hadError) => resolve(!hadError)).on('error', () => undefined);
  });
}
