/**
 * Which key a controller works on next. A key waits only once however often it is added, and never runs twice at the
 * same time; failed keys wait longer each time; changes come before resyncs. It has a single timer and no promises:
 * workers call `take` and `done`.
 */
import type { KubeMetrics, ReadQueueState } from './metrics.ts';
import { createReadyKeys, type Entry, type Priority } from './ready-keys.ts';
import type { Cancel, TimedClock } from './timed-clock.ts';

export type WorkQueue = {
  /** Due now; a waiting change stays a change, and a running key runs once more. */
  add(key: string, priority: Priority): void;
  /** Due later, unless another reason comes first. */
  addAfter(key: string, ms: number, priority: Priority): void;
  /** The next key, which then counts as running; undefined if none may be taken now. */
  take(): TakenKey | undefined;
  done(key: string, outcome: Outcome): void;
  /** Calls `wake` when there may be something to take. */
  onWork(wake: () => void): void;
  /** Nothing can be taken any more. */
  close(): void;
};

export type TakenKey = {
  key: string;
  /** How often in a row it failed before, or another look changed nothing. */
  failures: number;
};

export type Outcome =
  | { kind: 'done' }
  /** As it should be; look again after this time. */
  | { kind: 'requeue'; after_ms: number }
  /**
   * Nothing failed, but another look will hardly change the result: after this time, doubled each
   * time in a row.
   */
  | { kind: 'back-off'; after_ms: number }
  | { kind: 'failed' };

export type WorkQueueOptions = {
  name: string;
  clock: TimedClock;
  metrics: KubeMetrics;
  random?: () => number;
  concurrency?: number;
};

export const CONCURRENCY = 8;
/** Workers that resyncs never occupy. */
const RESERVED = 2;
const BACKOFF_MS = { first: 100, last: 200_000 };

/** `first_ms`, doubled with each failure, plus up to half of that: five minutes at most. */
export function backoff(failures: number, random: () => number, first_ms = BACKOFF_MS.first) {
  const steady = Math.min(first_ms * 2 ** (failures - 1), BACKOFF_MS.last);
  return steady * (1 + random() / 2);
}

/** A regular pass, up to a tenth earlier or later: otherwise those of all objects would coincide. */
export function spread(after_ms: number, random: () => number): number {
  return after_ms * (0.9 + random() / 5);
}

type State = Required<WorkQueueOptions> & {
  entries: Map<string, Entry>;
  ready: ReturnType<typeof createReadyKeys>;
  running: Set<Entry>;
  wake: () => void;
  cancel: Cancel;
  readState: ReadQueueState;
  isClosed: boolean;
};

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { concurrency = CONCURRENCY, random = Math.random } = options;
  const resyncsMax = Math.max(1, concurrency - RESERVED);
  const state: State = {
    ...{ ...options, concurrency, random },
    entries: new Map(),
    ready: createReadyKeys({ clock: options.clock, resyncsMax }),
    running: new Set(),
    wake: () => undefined,
    cancel: () => undefined,
    readState: () => readState(state),
    isClosed: false,
  };
  options.metrics.watchQueue(options.name, state.readState);
  return {
    add: (key, priority) => add(state, key, priority),
    addAfter: (key, ms, priority) => addAfter(state, { key, ms, priority }),
    take: () => take(state),
    done: (key, outcome) => done(state, key, outcome),
    onWork: (wake) => {
      state.wake = wake;
    },
    close: () => {
      state.isClosed = true;
      state.cancel();
      forgetEnded(state);
    },
  };
}

function entryOf(state: State, key: string, priority: Priority): Entry {
  const known = state.entries.get(key);
  if (known !== undefined) return known;
  const entry: Entry = {
    ...{ key, priority, failures: 0, version: 0, since: 0, due: 0 },
    state: 'idle',
    next: undefined,
  };
  state.entries.set(key, entry);
  return entry;
}

function add(state: State, key: string, priority: Priority): void {
  const entry = entryOf(state, key, priority);
  if (entry.state === 'running') {
    const other = entry.next?.ms === 0 ? entry.next.priority : priority;
    entry.next = { ms: 0, priority: higher(priority, other) };
    return;
  }
  // A resync must not shorten the pause of a failed key.
  const isPaused = entry.state === 'later' && entry.failures > 0;
  if (isPaused && priority === 'resync') return;
  if (entry.state === 'idle' || entry.state === 'later') state.metrics.queueAdded(state.name);
  state.ready.put(entry, higher(priority, entry.priority));
  plan(state);
}

function higher(a: Priority, b: Priority): Priority {
  return a === 'change' ? a : b;
}

type Later = { key: string; ms: number; priority: Priority };

function addAfter(state: State, { key, ms, priority }: Later): void {
  const entry = entryOf(state, key, priority);
  if (entry.state === 'running') {
    entry.next ??= { ms, priority };
    return;
  }
  const due = state.clock.elapsed() + ms;
  if (entry.state === 'ready' || (entry.state === 'later' && entry.due <= due)) return;
  if (entry.state === 'idle') state.metrics.queueAdded(state.name);
  state.ready.putLater(entry, due, priority);
  plan(state);
}

function take(state: State): TakenKey | undefined {
  if (state.isClosed || state.running.size >= state.concurrency) return undefined;
  const entry = state.ready.take();
  if (entry === undefined) return undefined;
  state.running.add(entry);
  const { key, failures, since } = entry;
  const now = state.clock.elapsed();
  state.metrics.queueWaited(state.name, (now - since) / 1000);
  entry.since = now;
  return { key, failures };
}

function done(state: State, key: string, outcome: Outcome): void {
  const entry = state.entries.get(key);
  if (entry === undefined || !state.running.delete(entry)) {
    throw new Error(`nobody works on ${key}`);
  }
  state.metrics.queueWorked(state.name, (state.clock.elapsed() - entry.since) / 1000);
  entry.failures = isFailure(outcome) ? entry.failures + 1 : 0;
  state.ready.release(entry);
  goOn(state, entry, outcome);
  plan(state);
  forgetEnded(state);
}

/** A pass that hangs after the end stays visible for as long as it hangs. */
function forgetEnded({ isClosed, running, metrics, name, readState }: State): void {
  if (isClosed && running.size === 0) metrics.forgetQueue(name, readState);
}

function isFailure({ kind }: Outcome): boolean {
  return kind === 'failed' || kind === 'back-off';
}

/** Queues what was added meanwhile; a resync waits for the end of a failure's pause. */
function goOn(state: State, entry: Entry, outcome: Outcome): void {
  const { next } = entry;
  entry.next = undefined;
  if (outcome.kind === 'failed') state.metrics.queueRetried(state.name);
  const isSooner = next?.ms === 0 && (!isFailure(outcome) || next.priority !== 'resync');
  if (isSooner) {
    entry.priority = next.priority;
    state.metrics.queueAdded(state.name);
    state.ready.put(entry, next.priority);
    return;
  }
  const wait = waitAfter(state, entry, { outcome, next_ms: next?.ms ?? Infinity });
  if (wait === Infinity) {
    state.entries.delete(entry.key);
    return;
  }
  const priority = outcome.kind === 'failed' ? entry.priority : 'resync';
  state.ready.putLater(entry, state.clock.elapsed() + wait, priority);
}

type Ended = { outcome: Outcome; next_ms: number };

function waitAfter(state: State, { failures }: Entry, { outcome, next_ms }: Ended): number {
  if (outcome.kind === 'failed') return backoff(failures, state.random);
  if (outcome.kind === 'back-off') return backoff(failures, state.random, outcome.after_ms);
  return outcome.kind === 'requeue' ? Math.min(outcome.after_ms, next_ms) : next_ms;
}

/** One timer, for the next due key; the worker is woken if a key is ready. */
function plan(state: State): void {
  state.cancel();
  if (state.isClosed) return;
  const due = state.ready.nextDue();
  if (due !== undefined) {
    state.cancel = state.clock.after(due - state.clock.elapsed(), () => plan(state));
  }
  if (state.ready.size() > 0) state.wake();
}

function readState({ ready, running, clock }: State) {
  const now = clock.elapsed();
  const running_seconds = [...running].map(({ since }) => (now - since) / 1000);
  return { depth: ready.size(), running_seconds };
}
