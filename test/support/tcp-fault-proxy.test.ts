import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from './tcp-fault-proxy.ts';

let server: Server;
let proxy: FaultProxy;
let bodies: number[];

beforeEach(async () => {
  bodies = [];
  server = createServer(async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += chunk.length;
    bodies.push(size);
    response.end(`got ${size}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startFaultProxy({ port: (server.address() as AddressInfo).port });
});

afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

function post(bytes: number, signal?: AbortSignal): Promise<string> {
  const options = signal === undefined ? {} : { signal };
  const body = new Uint8Array(bytes);
  const url = `http://127.0.0.1:${proxy.port}/`;
  return fetch(url, { method: 'POST', body, ...options }).then((answer) => answer.text());
}

describe('the fault proxy', () => {
  it('passes everything on by default', async () => {
    expect(await post(300_000)).toBe('got 300000');
    expect(proxy.connections().total).toBe(1);
  });

  it('drops the response to a request that the server has handled', async () => {
    proxy.set({ kind: 'drop_response' });
    await expect(post(10)).rejects.toThrow();
    expect(bodies).toEqual([10]);
    proxy.set({ kind: 'none' });
    expect(await post(11)).toBe('got 11');
  });

  it('drops one response and passes the next one on', async () => {
    proxy.set({ kind: 'drop_response', times: 1 });
    await expect(post(10)).rejects.toThrow();
    expect(await post(11)).toBe('got 11');
    expect(bodies).toEqual([10, 11]);
  });

  it('cuts a request before the server has received all of it', async () => {
    proxy.set({ kind: 'cut_request', after_bytes: 1000 });
    await expect(post(500_000)).rejects.toThrow();
    expect(bodies).toEqual([]);
  });

  it('refuses and cuts connections, and recovers', async () => {
    proxy.set({ kind: 'refuse' });
    await expect(post(1)).rejects.toThrow();
    proxy.set({ kind: 'delay', ms: 200 });
    const cut = post(1);
    await expect.poll(() => proxy.connections().open, { interval: 5 }).toBeGreaterThan(0);
    proxy.cut();
    await expect(cut).rejects.toThrow();
    proxy.set({ kind: 'none' });
    expect(await post(2)).toBe('got 2');
  });

  it('stalls without closing, and goes on where it stopped', async () => {
    proxy.set({ kind: 'stall' });
    const answer = post(5);
    const first = await Promise.race([
      answer,
      new Promise((r) => setTimeout(r, 100, 'nothing yet')),
    ]);
    expect(first).toBe('nothing yet');
    proxy.set({ kind: 'none' });
    expect(await answer).toBe('got 5');
  });
});
