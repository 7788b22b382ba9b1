/**
 * The order in which the keys of a work queue may be taken: due keys, changed ones before the rest. Pure except for the
 * clock.
 */
import { createHeap, type Heap } from './heap.ts';
import type { TimedClock } from './timed-clock.ts';

/** `change`: something changed or failed; `resync`: another look at what should be unchanged. */
export type Priority = 'change' | 'resync';

export type Entry = {
  key: string;
  priority: Priority;
  failures: number;
  state: 'idle' | 'ready' | 'later' | 'running';
  /** Since when it has been waiting or running. */
  since: number;
  due: number;
  /** Heap places with an older version are stale. */
  version: number;
  /** Added while the key was running. */
  next: { ms: number; priority: Priority } | undefined;
};

/** How long changed keys may delay a resync. */
const PATIENCE_MS = 600_000;

type Placed = { entry: Entry; at: number; order: number; version: number };

type State = {
  clock: TimedClock;
  resyncsMax: number;
  changed: Heap<Placed>;
  resyncs: Heap<Placed>;
  later: Heap<Placed>;
  ready: number;
  running: number;
  order: number;
};

const byTime = (a: Placed, b: Placed) => a.at < b.at || (a.at === b.at && a.order < b.order);

export function createReadyKeys({ clock, resyncsMax }: Pick<State, 'clock' | 'resyncsMax'>) {
  const state: State = {
    ...{ clock, resyncsMax, ready: 0, running: 0, order: 0 },
    changed: createHeap(byTime),
    resyncs: createHeap(byTime),
    later: createHeap(byTime),
  };
  return {
    /** The key may be taken from now on. */
    put: (entry: Entry, priority: Priority) => put(state, entry, priority),
    putLater: (entry: Entry, due: number, priority: Priority) => {
      Object.assign(entry, { due, priority, state: 'later', version: entry.version + 1 });
      state.later.push(place(state, entry, due));
    },
    take: () => {
      wakeDue(state);
      return take(state);
    },
    /** The key is no longer running. */
    release: (entry: Entry) => release(state, entry),
    /** When the next key becomes due, among those that may not be taken yet. */
    nextDue: () => {
      wakeDue(state);
      return state.later.peek()?.at;
    },
    size: () => state.ready,
  };
}

function place(state: State, entry: Entry, at: number): Placed {
  state.order += 1;
  return { entry, at, order: state.order, version: entry.version };
}

function put(state: State, entry: Entry, priority: Priority): void {
  if (entry.state !== 'ready') {
    state.ready += 1;
    entry.since = state.clock.elapsed();
  } else if (entry.priority === priority) {
    return;
  }
  Object.assign(entry, { priority, state: 'ready', version: entry.version + 1 });
  const heap = entry.priority === 'resync' ? state.resyncs : state.changed;
  heap.push(place(state, entry, entry.since));
}

function wakeDue(state: State): void {
  const now = state.clock.elapsed();
  for (
    let next = peek(state.later);
    next !== undefined && next.at <= now;
    next = peek(state.later)
  ) {
    state.later.pop();
    put(state, next.entry, next.entry.priority);
  }
}

/** The first place that is not stale. */
function peek(heap: Heap<Placed>): Placed | undefined {
  for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
    if (first.version === first.entry.version) return first;
    heap.pop();
  }
  return undefined;
}

function take(state: State): Entry | undefined {
  const first = isLongOverdue(state) ? state.resyncs : state.changed;
  const entry = takeFrom(state, first) ?? takeFrom(state, state.changed);
  if (entry !== undefined) return entry;
  return state.running < state.resyncsMax ? takeFrom(state, state.resyncs) : undefined;
}

/** Only one at a time, for resyncs that changed keys delayed too long. */
function isLongOverdue({ resyncs, clock, running }: State): boolean {
  const first = peek(resyncs);
  return running === 0 && first !== undefined && first.at + PATIENCE_MS <= clock.elapsed();
}

function takeFrom(state: State, heap: Heap<Placed>): Entry | undefined {
  const entry = peek(heap)?.entry;
  if (entry === undefined) return undefined;
  heap.pop();
  entry.version += 1;
  entry.state = 'running';
  state.ready -= 1;
  if (entry.priority === 'resync') state.running += 1;
  return entry;
}

function release(state: State, entry: Entry): void {
  if (entry.priority === 'resync') state.running -= 1;
  entry.state = 'idle';
}
