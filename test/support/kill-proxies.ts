/**
 * Proxies between a process and its API server and PostgreSQL. They count its writes to both, and kill the process with
 * SIGKILL at a chosen write: either before the server receives it, or after it succeeded but before the process learns
 * so.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { PlaneAddress } from './kube-request.ts';

export type KillPoint = { write: number; side: 'before' | 'after' };

export type KillProxies = {
  plane: PlaneAddress;
  database_url: string;
  /** All writes in order. */
  writes: string[];
  /** Sets the function that kills the process. */
  aim(kill: () => void): void;
  close(): Promise<void>;
};

type State = {
  at: KillPoint | undefined;
  writes: string[];
  isDead: boolean;
  kill: () => void;
  sockets: Set<Socket>;
};

type Targets = { plane: PlaneAddress; database_url: string };

export async function startKillProxies(targets: Targets, at?: KillPoint): Promise<KillProxies> {
  const state: State = {
    ...{ at, writes: [], isDead: false, kill: () => undefined },
    sockets: new Set(),
  };
  const agent = new Agent({ keepAlive: true });
  const kube = createServer((asked, answer) => {
    // A process that dies during a request leaves it incomplete.
    passCall(state, { targets, agent }, { asked, answer }).catch(() => answer.destroy());
  });
  const sql = createTcpServer((client) => passSql(state, targets, client));
  for (const server of [kube, sql]) {
    server.on('connection', (socket: Socket) => keep(state, socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const portOf = (server: typeof sql) => String((server.address() as AddressInfo).port);
  return {
    plane: { ...targets.plane, url: `http://127.0.0.1:${portOf(kube)}`, ca: '' },
    database_url: Object.assign(new URL(targets.database_url), { port: portOf(sql) }).href,
    writes: state.writes,
    aim: (kill) => {
      state.kill = kill;
    },
    close: async () => {
      for (const socket of state.sockets) socket.destroy();
      agent.destroy();
      const closed = [kube, sql].map((server) => once(server.close(), 'close'));
      await Promise.all(closed);
    },
  };
}

function keep({ sockets }: State, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.once('close', () => sockets.delete(socket));
}

/** Returns the chosen side if this is the write at which to kill the process. */
function count(state: State, name: string): KillPoint['side'] | 'elsewhere' {
  const { at, writes } = state;
  const isHere = at?.write === writes.length;
  writes.push(name);
  return isHere ? at.side : 'elsewhere';
}

function end(state: State): void {
  state.isDead = true;
  state.kill();
  for (const socket of state.sockets) socket.destroy();
}

type Kube = { targets: Targets; agent: Agent };
type Call = { asked: IncomingMessage; answer: ServerResponse };

/** Leases of the leader and Events are not counted, because no state depends on them. */
const UNCOUNTED = /\/(leases|events)(\/|\?|$)/;

async function passCall(state: State, { targets, agent }: Kube, { asked, answer }: Call) {
  const { method = '', url = '', headers } = asked;
  const isWrite = method !== 'GET' && !UNCOUNTED.test(url);
  const body = await buffer(asked);
  if (state.isDead) return;
  const side = isWrite ? count(state, `${method} ${nameOf(url)}`) : 'elsewhere';
  if (side === 'before') return end(state);
  const { host } = new URL(targets.plane.url);
  const isWatch = url.includes('watch=true');
  const sent = request(`${targets.plane.url}${url}`, {
    ...{ method, ca: targets.plane.ca, headers: { ...headers, host } },
    ...(isWatch ? {} : { agent }),
  });
  sent.on('error', () => answer.destroy());
  answer.once('close', () => answer.writableFinished || sent.destroy());
  sent.end(body);
  const [upstream] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?];
  if (upstream === undefined) return;
  if (side === 'after') {
    await buffer(upstream);
    return end(state);
  }
  answer.writeHead(upstream.statusCode ?? 502, upstream.headers);
  answer.flushHeaders();
  upstream.on('error', () => answer.destroy());
  upstream.pipe(answer);
}

/** Removes the names of namespaces and objects. */
function nameOf(url: string): string {
  const [, plural = '', subresource = ''] =
    /\/namespaces\/[^/]+\/([a-z]+)(?:\/[^/?]+)?(\/[a-z]+)?/.exec(url) ?? [];
  return `${plural}${subresource}`;
}

/** The first message of a connection begins with its length, all later ones with a type byte. */
function passSql(state: State, { database_url }: Targets, client: Socket): void {
  const { hostname, port } = new URL(database_url);
  const server = connect({ host: hostname, port: Number(port) });
  keep(state, server);
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
  let isCommitted = false;
  server.on('data', (piece) => {
    if (isCommitted) end(state);
    else client.write(piece);
  });
  const messages = createMessages();
  client.on('data', (piece: Buffer) => {
    for (const message of messages(piece)) {
      if (state.isDead) return;
      const side = isCommit(message) ? count(state, 'commit') : 'elsewhere';
      if (side === 'before') return end(state);
      isCommitted ||= side === 'after';
      server.write(message);
    }
  });
}

function createMessages(): (piece: Buffer) => Buffer[] {
  let held = Buffer.alloc(0);
  let head = 0;
  return (piece) => {
    held = Buffer.concat([held, piece]);
    const whole: Buffer[] = [];
    while (held.length >= head + 4 && held.length >= head + held.readInt32BE(head)) {
      const length = head + held.readInt32BE(head);
      whole.push(held.subarray(0, length));
      held = held.subarray(length);
      head = 1;
    }
    return whole;
  };
}

function isCommit(message: Buffer): boolean {
  return message[0] === 0x51 && message.toString('utf8', 5).startsWith('commit');
}
