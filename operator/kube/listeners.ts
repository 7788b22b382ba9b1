/** The subscribers of a cache's changes: each receives every key, even if its handler failed before. */
import type { Log } from '../../runtime/platform/log.ts';
import { type KubeObject, keyOf } from './resource.ts';
import type { Change } from './stored-objects.ts';
import type { TimedClock } from './timed-clock.ts';

export type ChangeHandler<T> = (change: Change<T>) => void;

export type Listeners<T extends KubeObject> = {
  /** Calls the handler for every change from now on, and for what is present already. */
  add(handler: ChangeHandler<T>, present: Iterable<T>): void;
  notify(change: Change<T>): void;
};

const RETRY_MS = 1_000;

export function createListeners<T extends KubeObject>(options: {
  kind: string;
  log: Log;
  clock: TimedClock;
  signal: AbortSignal;
}): Listeners<T> {
  const { kind, log, clock, signal } = options;
  const handlers: ChangeHandler<T>[] = [];
  const notifyOne = (handler: ChangeHandler<T>, change: Change<T>) => {
    try {
      handler(change);
    } catch (error) {
      // The key may never change again, so the handler is called until it succeeds.
      log.error('a handler of a watch cache failed', { kind, error });
      if (!signal.aborted) clock.after(RETRY_MS, () => notifyOne(handler, change));
    }
  };
  return {
    add: (handler, present) => {
      handlers.push(handler);
      for (const object of present) {
        const key = keyOf(object.metadata);
        notifyOne(handler, { kind: 'added', key, object, previous: undefined });
      }
    },
    notify: (change) => {
      for (const handler of handlers) notifyOne(handler, change);
    },
  };
}
