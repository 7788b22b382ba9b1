/**
 * A real Varnish on a free port with the configuration of docs/varnish.vcl; only the address of delivery differs. Like
 * a Kubernetes Service, one address can stand for several delivery servers; the test chooses which of them responds.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeHttp } from './close-http.ts';
import { endServer } from './end-server.ts';
import { untilServing } from './until-serving.ts';

export type Varnish = {
  port: number;
  url: string;
  /** Sends everything that Varnish fetches from now on to this delivery server. */
  use(deliveryPort: number): void;
  close(): Promise<void>;
};

const VCL = new URL('../../docs/varnish.vcl', import.meta.url);

export async function startVarnish(deliveryPort: number): Promise<Varnish> {
  const service = await startService(deliveryPort);
  const { port, close } = await startVarnishd(service.port);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    use: service.use,
    close: async () => {
      await close();
      await service.close();
    },
  };
}

/** Starts Varnish in front of a single delivery server. */
export async function startVarnishd(
  deliveryPort: number,
): Promise<Pick<Varnish, 'port' | 'close'>> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-varnish-'));
  const vcl = join(folder, 'tintype.vcl');
  writeFileSync(vcl, vclFor(deliveryPort));
  const words = ['-F', '-j', 'none', '-f', vcl, '-n', join(folder, 'work'), '-s', 'malloc,64m'];
  const child = spawn('/usr/sbin/varnishd', [...words, '-a', '127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const close = () => endServer(child, folder);
  const look = () => askForPort(join(folder, 'work'));
  return { port: await untilServing(child, { name: 'varnishd', look, end: close }), close };
}

function vclFor(port: number): string {
  const text = readFileSync(VCL, 'utf8');
  const [host, itsPort] = ['"delivery.tintype.svc.cluster.local"', '"8081"'];
  for (const expected of [host, itsPort]) {
    if (text.split(expected).length !== 2)
      throw new Error(`docs/varnish.vcl has no one ${expected}`);
  }
  return text.replace(host, '"127.0.0.1"').replace(itsPort, `"${port}"`);
}

/** varnishd reports its port only on request. */
async function askForPort(folder: string): Promise<number | undefined> {
  try {
    const words = ['-n', folder, '-t', '1', 'debug.listen_address'];
    const { stdout } = await promisify(execFile)('varnishadm', words);
    const [, , port] = stdout.trim().split(/\s+/);
    return Number(port) > 0 ? Number(port) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A proxy to the chosen server. It opens a connection per request, because a kept-alive one would
 * stay with the previous server.
 */
async function startService(first: number) {
  let target = first;
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const to = { host: '127.0.0.1', port: target, method, path, headers, agent: false as const };
    const upstream = sendRequest(to, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    use: (port: number) => {
      target = port;
    },
    close: () => closeHttp(server),
  };
}
