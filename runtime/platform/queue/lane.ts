/** A queue of waiting tasks and the workers that take them, each with a number of slots. First come, first served. */

export type Lane<Handler> = {
  add(task: LaneTask<Handler>): void;
  /** A waiting task will not run; a running one is not touched. */
  cancel(task: LaneTask<Handler>): void;
  /**
   * The worker takes tasks from now on; the returned function makes it leave and waits for its
   * running tasks.
   */
  join(worker: LaneWorker<Handler>): () => Promise<void>;
  waiting(): number;
  listeners(): number;
  /** The sum of what the workers allow; undefined without a worker. */
  waitingMax(): number | undefined;
  isFree(): boolean;
  /** About how long until one more waiting task would begin: 1 to 30 seconds. */
  waitSeconds(): number;
  dropOldest(): void;
  /** Drops waiting tasks and waits for running ones. */
  close(): Promise<void>;
};

/** `drop` is called instead of `run`, never both. */
export type LaneTask<Handler> = { run(handle: Handler): Promise<unknown>; drop(): void };
export type LaneWorker<Handler> = { slots: number; waiting_max: number; handle: Handler };

const WAIT_SECONDS_MAX = 30;

export function createLane<Handler>(): Lane<Handler> {
  const tasks = new Set<LaneTask<Handler>>();
  const listeners = new Set<Listener<Handler>>();
  const pace = createPace();
  const pump = () => {
    for (const task of tasks) {
      const listener = findFreeListener(listeners);
      if (listener === undefined) return;
      tasks.delete(task);
      start(listener, task);
    }
  };
  const start = (listener: Listener<Handler>, task: LaneTask<Handler>) => {
    const startedAt = performance.now();
    const running = runQuietly(task, listener.worker.handle);
    listener.running.add(running);
    void running.then(() => {
      listener.running.delete(running);
      pace.took(performance.now() - startedAt);
      pump();
    });
  };
  const leave = async (listener: Listener<Handler>) => {
    listeners.delete(listener);
    await Promise.all(listener.running);
  };
  return {
    add: (task) => {
      tasks.add(task);
      pump();
    },
    cancel: (task) => void tasks.delete(task),
    join: (worker) => {
      const listener = { worker, running: new Set<Promise<void>>() };
      listeners.add(listener);
      pump();
      return () => leave(listener);
    },
    waiting: () => tasks.size,
    listeners: () => listeners.size,
    waitingMax: () => (listeners.size === 0 ? undefined : sum(listeners, 'waiting_max')),
    isFree: () => findFreeListener(listeners) !== undefined,
    waitSeconds: () => pace.waitSeconds(tasks.size + 1, sum(listeners, 'slots')),
    dropOldest: () => drop(tasks, 1),
    close: async () => {
      drop(tasks, tasks.size);
      await Promise.all([...listeners].map(leave));
    },
  };
}

/** A task handles its own errors; here they only must not end the lane. */
async function runQuietly<Handler>(task: LaneTask<Handler>, handle: Handler): Promise<void> {
  await task.run(handle).catch(() => undefined);
}

type Listener<Handler> = { worker: LaneWorker<Handler>; running: Set<Promise<void>> };

function findFreeListener<Handler>(
  listeners: Set<Listener<Handler>>,
): Listener<Handler> | undefined {
  return [...listeners].find((listener) => listener.running.size < listener.worker.slots);
}

function sum<Handler>(listeners: Set<Listener<Handler>>, field: 'slots' | 'waiting_max'): number {
  return [...listeners].reduce((total, listener) => total + listener.worker[field], 0);
}

function drop<Handler>(tasks: Set<LaneTask<Handler>>, count: number): void {
  for (const task of [...tasks].slice(0, count)) {
    tasks.delete(task);
    task.drop();
  }
}

/** A moving average of task durations. */
function createPace() {
  let averageMs: number | undefined;
  return {
    took: (ms: number) => {
      averageMs = averageMs === undefined ? ms : averageMs * 0.8 + ms * 0.2;
    },
    waitSeconds: (ahead: number, slots: number) => {
      const seconds = Math.ceil((ahead * (averageMs ?? 1000)) / Math.max(slots, 1) / 1000);
      return Math.min(Math.max(seconds, 1), WAIT_SECONDS_MAX);
    },
  };
}
