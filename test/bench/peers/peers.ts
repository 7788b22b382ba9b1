/**
 * The peers, configured for production as their documentation recommends, on loopback with sources in a folder: how to
 * start each, and the address of an image by width and format.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { put, withKey } from '../../contract/support/client.ts';
import { removeFolder, startTintype } from '../../contract/support/tintype.ts';
import { freePort } from '../../support/free-port.ts';
import type { Installed } from './install.ts';
import type { Format, Source } from './sources.ts';

export type Work = { file: string; width: number; format: Format };
export type Address = { port: number; path: string; host?: string };
export type Peer = {
  name: string;
  pid: number;
  /** Whether a repeated request needs no further render. */
  keeps_results: boolean;
  address(work: Work): Address;
  stop(): Promise<void>;
};
export type Setting = { folder: string; sources: readonly Source[]; installed: Installed };
/** Returns null if the peer is not installed. */
export type StartPeer = (setting: Setting) => Promise<Peer | null>;

const CORES = 2;

export const peers: Readonly<Record<string, StartPeer>> = {
  tintype: startOurs,
  thumbor: async ({ folder, installed }) => {
    if (installed.thumbor === null) return null;
    const port = await freePort();
    const results = join(folder, 'thumbor');
    mkdirSync(results, { recursive: true });
    const config = join(results, 'thumbor.conf');
    writeFileSync(config, thumborConfig(folder, results));
    const words = ['--port', String(port), '--ip', '127.0.0.1', '--conf', config];
    const processes = ['--processes', String(CORES)];
    return startProgram('thumbor 7', [installed.thumbor, ...words, ...processes], {
      port,
      path: ({ file, width, format }) =>
        `/unsafe/${width}x0/filters:quality(${quality(format)}):format(${format})/${file}`,
      keeps_results: true,
    });
  },
  ipx: async ({ folder, installed }) => {
    if (installed.ipx === null) return null;
    const port = await freePort();
    const words = ['serve', '--dir', folder, '--host', '127.0.0.1', '--port', String(port)];
    return startProgram('ipx 3', [installed.ipx, ...words], {
      port,
      path: ({ file, width, format }) =>
        // A quality would turn a PNG into a palette image.
        `/w_${width},f_${format}${format === 'png' ? '' : `,q_${quality(format)}`}/${file}`,
      keeps_results: false,
    });
  },
  sharp: async ({ folder }) => {
    const port = await freePort();
    const program = join(import.meta.dirname, 'plain-sharp.ts');
    return startProgram('plain sharp', [process.execPath, program, String(port), folder], {
      port,
      path: ({ file, width, format }) => `/${width}/${format}/${file}`,
      keeps_results: false,
    });
  },
};

function quality(format: Work['format']): number {
  return format === 'avif' ? 50 : 80;
}

/**
 * The recommended configuration for production: files for sources and results, and several
 * processes.
 */
function thumborConfig(folder: string, results: string): string {
  return [
    "LOADER = 'thumbor.loaders.file_loader'",
    `FILE_LOADER_ROOT_PATH = '${folder}'`,
    "RESULT_STORAGE = 'thumbor.result_storages.file_storage'",
    `RESULT_STORAGE_FILE_STORAGE_ROOT_PATH = '${results}'`,
    'RESULT_STORAGE_STORES_UNSAFE = True',
    "STORAGE = 'thumbor.storages.no_storage'",
    "LOGGING_LEVEL = 'ERROR'",
    '',
  ].join('\n');
}

async function startOurs({ sources }: Setting): Promise<Peer> {
  const tintype = await startTintype();
  const { instance } = tintype;
  const caller = withKey(tintype, instance.api_key);
  for (const { file, content_type, bytes } of sources) {
    const path = `/v1/projects/${instance.project_slug}/uploads`;
    const made = await caller('POST', path, {
      content_type,
      size_bytes: bytes.length,
      file_slug: file,
    });
    await put(made.body.direct.put_url, made.body.direct.headers, bytes);
    const session = `${path}/${made.body.upload_id}`;
    await caller('POST', `${session}/complete`);
    await until(async () => (await caller('GET', session)).body.status === 'ready');
  }
  return {
    name: 'Tintype',
    pid: instance.pid,
    keeps_results: true,
    address: ({ file, width, format }) => ({
      port: instance.delivery_port,
      host: `${instance.project_slug}.${instance.delivery_root_domain}`,
      path: `/resize/${width}x/format/${format}/f/${file}`,
    }),
    stop: async () => {
      await tintype.end('SIGTERM');
      await removeFolder(tintype.data);
    },
  };
}

export async function startProgram(
  name: string,
  [command = '', ...words]: string[],
  at: { port: number; path(work: Work): string; keeps_results: boolean },
): Promise<Peer> {
  const child = spawn(command, words, {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  await until(() => accepts(at.port));
  return {
    name,
    pid: child.pid ?? 0,
    keeps_results: at.keeps_results,
    address: (work) => ({ port: at.port, path: at.path(work) }),
    stop: () => stopGroup(child),
  };
}

async function stopGroup(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
}

async function accepts(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    return true;
  } catch {
    return false;
  }
}

const TRIES = 600;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await isSo()) return;
    await sleep(100);
  }
  throw new Error('a peer was not ready within a minute');
}
