/**
 * The queue of one process: standalone and tests. Doorbells without a listener are kept, up to a bound, until somebody
 * listens; a doorbell's message goes through JSON as over a wire.
 */
import type { Log } from '../log.ts';
import { continueTrace, traceHeaders } from '../trace-context.ts';
import { createLane, type Lane, type LaneTask } from './lane.ts';
import {
  type CallHandler,
  type CallOptions,
  callsOf,
  type DoorbellHandler,
  doorbellsOf,
  type Queue,
  QueueBusy,
  type QueueDepth,
  type QueueName,
  QueueTimeout,
} from './queue.ts';
import { tracedMessage } from './traced-message.ts';

const DOORBELLS_MAX = 10_000;
/** How many calls may wait before anybody serves. */
const UNSERVED_WAITING_MAX = 64;

export function createInProcessQueue(options: { log?: Log } = {}): Queue {
  const doorbells = new Map<QueueName, Lane<DoorbellHandler>>();
  const calls = new Map<QueueName, Lane<CallHandler>>();
  const state = { isClosed: false };
  const doorbellLane = (name: QueueName) => laneOf(doorbells, name);
  const callLane = (name: QueueName) => laneOf(calls, name);
  return {
    publish: async (name, message) => {
      if (state.isClosed) return;
      enqueueDoorbell(doorbellLane(name), {
        name,
        text: JSON.stringify(message),
        log: options.log,
      });
    },
    consume: async (name, { slots }, handle) => ({
      stop: doorbellLane(name).join({ slots, waiting_max: DOORBELLS_MAX, handle }),
    }),
    call: async (name, payload, callOptions) => {
      if (state.isClosed) throw new QueueBusy(name, 1);
      return ask(callLane(name), { name, payload, ...callOptions });
    },
    serve: async (name, { slots, waiting_max }, handle) => ({
      stop: callLane(name).join({ slots, waiting_max, handle }),
    }),
    repair: async () => 'sound',
    depths: async () => [...depthsOf(doorbells, doorbellsOf), ...depthsOf(calls, callsOf)],
    close: async () => {
      state.isClosed = true;
      const lanes = [...doorbells.values(), ...calls.values()];
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

function depthsOf<Handler>(
  lanes: Map<QueueName, Lane<Handler>>,
  queueOf: (name: QueueName) => string,
): QueueDepth[] {
  return [...lanes].map(([name, lane]) => ({
    queue: queueOf(name),
    waiting: lane.waiting(),
    listeners: lane.listeners(),
  }));
}

function laneOf<Handler>(lanes: Map<QueueName, Lane<Handler>>, name: QueueName): Lane<Handler> {
  const existing = lanes.get(name);
  if (existing !== undefined) return existing;
  const lane = createLane<Handler>();
  lanes.set(name, lane);
  return lane;
}

function enqueueDoorbell(
  lane: Lane<DoorbellHandler>,
  doorbell: { name: QueueName; text: string; log: Log | undefined },
): void {
  if (lane.waiting() >= DOORBELLS_MAX) lane.dropOldest();
  const carried = traceHeaders();
  lane.add({
    run: async (handle) => {
      try {
        const handleDoorbell = async () => handle(JSON.parse(doorbell.text));
        await continueTrace(carried, () => tracedMessage('process', doorbell.name, handleDoorbell));
      } catch (error) {
        doorbell.log?.error('the handler of a doorbell failed', { queue: doorbell.name, error });
      }
    },
    drop: () => undefined,
  });
}

type Question = { name: QueueName; payload: unknown } & CallOptions;

function ask(lane: Lane<CallHandler>, question: Question): Promise<unknown> {
  const { name, payload, deadline_ms, signal } = question;
  const waitingMax = lane.waitingMax() ?? UNSERVED_WAITING_MAX;
  if (!lane.isFree() && lane.waiting() >= waitingMax) {
    throw new QueueBusy(name, lane.waitSeconds());
  }
  signal?.throwIfAborted();
  const carried = traceHeaders();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const stopped = new AbortController();
  const task: LaneTask<CallHandler> = {
    run: async (handle) => {
      try {
        const handleCall = () => handle(payload, stopped.signal);
        resolve(await continueTrace(carried, () => tracedMessage('process', name, handleCall)));
      } catch (error) {
        reject(error);
      }
    },
    drop: () => reject(new QueueBusy(name, 1)),
  };
  const giveUp = (reason: unknown) => {
    lane.cancel(task);
    stopped.abort(reason);
    reject(reason);
  };
  const onAbort = () => giveUp(signal?.reason);
  const timer = setTimeout(() => giveUp(new QueueTimeout(name, deadline_ms)), deadline_ms);
  signal?.addEventListener('abort', onAbort, { once: true });
  lane.add(task);
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
}
