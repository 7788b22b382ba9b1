/**
 * A TCP proxy between a client and a real server that injects faults: it delays, cuts, refuses or stalls connections,
 * or forwards a request and drops the response. A fault applies to all later bytes, on existing connections, too.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Fault =
  | { kind: 'none' }
  /** Delays each chunk, in both directions. */
  | { kind: 'delay'; ms: number }
  /** Resets new connections immediately, except the first `after`. */
  | { kind: 'refuse'; after?: number }
  /** Forwards nothing and closes nothing, like a frozen server. */
  | { kind: 'stall' }
  /** Resets the connection after this many bytes of the request. */
  | { kind: 'cut_request'; after_bytes: number }
  /**
   * Forwards the whole request, but resets the client at the first byte of the response. `times`
   * limits the number of affected responses.
   */
  | { kind: 'drop_response'; times?: number };

export type FaultProxy = {
  port: number;
  /** Applies immediately, and resets the byte counters. */
  set(fault: Fault): void;
  /** Resets every open connection, once. */
  cut(): void;
  /** The number of open connections, and of all connections so far. */
  connections(): { open: number; total: number };
  close(): Promise<void>;
};

type Pair = { client: Socket; server: Socket; requestBytes: number };
type State = { fault: Fault; pairs: Set<Pair>; total: number; total_before: number };

export async function startFaultProxy(target: {
  host?: string;
  port: number;
}): Promise<FaultProxy> {
  const state: State = { fault: { kind: 'none' }, pairs: new Set(), total: 0, total_before: 0 };
  const listener = createServer({ allowHalfOpen: true }, (client) => accept(state, client, target));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    set: (fault) => {
      state.fault = fault;
      state.total_before = state.total;
      for (const pair of state.pairs) renew(state, pair);
    },
    cut: () => {
      for (const pair of state.pairs) reset(state, pair);
    },
    connections: () => ({ open: state.pairs.size, total: state.total }),
    close: async () => {
      for (const pair of state.pairs) reset(state, pair);
      listener.close();
      await once(listener, 'close');
    },
  };
}

function accept(state: State, client: Socket, target: { host?: string; port: number }): void {
  state.total += 1;
  client.on('error', () => undefined);
  if (isRefused(state)) {
    client.resetAndDestroy();
    return;
  }
  const server = connect({
    host: target.host ?? '127.0.0.1',
    port: target.port,
    allowHalfOpen: true,
    noDelay: true,
  });
  const pair: Pair = { client, server, requestBytes: 0 };
  state.pairs.add(pair);
  client.setNoDelay(true);
  server.on('error', () => reset(state, pair));
  client.on('close', () => reset(state, pair));
  server.on('close', () => reset(state, pair));
  pass(client, server, (bytes) => isRequestPassed(state, pair, bytes), state);
  pass(server, client, () => isResponsePassed(state, pair), state);
  if (state.fault.kind === 'stall') hold(pair);
}

function isRefused({ fault, total, total_before }: State): boolean {
  return fault.kind === 'refuse' && total - total_before > (fault.after ?? 0);
}

/** Forwards chunks in order while `isPassed` returns true. A slow receiver pauses the sender. */
function pass(from: Socket, to: Socket, isPassed: (bytes: number) => boolean, state: State): void {
  let last = Promise.resolve();
  from.on('data', (piece) => {
    if (!isPassed(piece.length)) return;
    const { fault } = state;
    if (fault.kind !== 'delay') {
      last = last.then(() => write(from, to, piece));
      return;
    }
    last = last.then(() => wait(fault.ms)).then(() => write(from, to, piece));
  });
  from.on('end', () => {
    last = last.then(() => void to.end());
  });
}

function write(from: Socket, to: Socket, piece: string | Uint8Array): void {
  if (to.destroyed || to.writableEnded) return;
  if (to.write(piece)) return;
  from.pause();
  to.once('drain', () => from.resume());
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function isRequestPassed(state: State, pair: Pair, bytes: number): boolean {
  pair.requestBytes += bytes;
  if (state.fault.kind !== 'cut_request' || pair.requestBytes <= state.fault.after_bytes)
    return true;
  reset(state, pair);
  return false;
}

function isResponsePassed(state: State, pair: Pair): boolean {
  const { fault } = state;
  if (fault.kind !== 'drop_response') return true;
  if (fault.times !== undefined) {
    state.fault =
      fault.times > 1 ? { kind: 'drop_response', times: fault.times - 1 } : { kind: 'none' };
  }
  reset(state, pair);
  return false;
}

function renew(state: State, pair: Pair): void {
  pair.requestBytes = 0;
  if (state.fault.kind === 'stall') hold(pair);
  else release(pair);
}

function hold(pair: Pair): void {
  pair.client.pause();
  pair.server.pause();
}

function release(pair: Pair): void {
  pair.client.resume();
  pair.server.resume();
}

function reset(state: State, pair: Pair): void {
  if (!state.pairs.delete(pair)) return;
  if (!pair.client.destroyed) pair.client.resetAndDestroy();
  pair.server.destroy();
}
