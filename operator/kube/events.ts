/**
 * What people see in `kubectl describe`: an Event per happening, recorded once however often it repeats, as a series.
 * Telling never blocks or fails the caller: an Event that cannot be written is dropped. Uses events.k8s.io/v1.
 */
import type { Log } from '../../runtime/platform/log.ts';
import type { KubeClient } from './client.ts';
import { unwrap } from './kube-failure.ts';
import { printMicroTime } from './lease-record.ts';
import { type KubeObject, resourceType } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

export type EventDetails = {
  type: 'Normal' | 'Warning';
  /** A word that programs can compare. */
  reason: string;
  /** What was done, in a word. */
  action: string;
  note: string;
};

export type EventRecorder = {
  record(regarding: KubeObject, details: EventDetails): void;
  /** Resolves once every earlier Event is written or given up. */
  settled(): Promise<void>;
};

export type RecorderOptions = {
  client: KubeClient;
  clock: TimedClock;
  log: Log;
  /** The reporting process. */
  instance: string;
};

type KubeEvent = KubeObject & { series?: { count: number; lastObservedTime: string } };

const events = resourceType<KubeEvent>({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  plural: 'events',
});

const CONTROLLER = 'tintype.dev/operator';
/**
 * After a longer silence a repetition becomes a new Event, as the server drops Events after an
 * hour.
 */
const SERIES_MS = 30 * 60_000;
const SERIES_MAX = 4_096;
const WAITING_MAX = 1_000;
const CALL_MS = 4_000;
/** In bytes, as the API server counts them: it rejects an Event with a longer note. */
const NOTE_BYTES_MAX = 1024;
const CUT = '…';

type Series = { name: string; count: number; seen_ms: number };

type State = RecorderOptions & {
  /** By event and object; the longest silent first. */
  series: Map<string, Series>;
  waiting: number;
  last: Promise<void>;
  numbers: number;
};

export function createEventRecorder(options: RecorderOptions): EventRecorder {
  const state: State = {
    ...options,
    client: options.client.within(CALL_MS),
    ...{ series: new Map(), waiting: 0, last: Promise.resolve(), numbers: 0 },
  };
  return {
    record: (regarding, details) => {
      if (state.waiting >= WAITING_MAX) return;
      state.waiting += 1;
      const note = cut(details.note);
      state.last = state.last.then(() => write(state, { regarding, ...details, note }));
    },
    settled: () => state.last,
  };
}

type PendingEvent = EventDetails & { regarding: KubeObject };

async function write(state: State, event: PendingEvent): Promise<void> {
  try {
    const isRepeated = await repeat(state, event);
    if (!isRepeated) await begin(state, event);
  } catch (error) {
    state.log.debug('an Event was not written', { reason: event.reason, error });
  } finally {
    state.waiting -= 1;
  }
}

/** False if there is no series to count it in. */
async function repeat({ client, clock, series }: State, event: PendingEvent): Promise<boolean> {
  const key = keyOf(event);
  const known = series.get(key);
  if (known === undefined || clock.elapsed() - known.seen_ms > SERIES_MS) return false;
  const { namespace } = event.regarding.metadata;
  const count = known.count + 1;
  const body = { series: { count, lastObservedTime: printMicroTime(clock.now()) } };
  const answer = await client.merge(events, { name: known.name, namespace }, { body });
  if (!answer.ok && answer.failure.reason === 'NotFound') return false;
  unwrap(answer);
  remember(series, key, { name: known.name, count, seen_ms: clock.elapsed() });
  return true;
}

async function begin(state: State, event: PendingEvent): Promise<void> {
  const { client, clock, series, instance } = state;
  const { regarding, type, reason, action, note } = event;
  const { apiVersion, kind, metadata } = regarding;
  const { name, namespace = 'default', uid, resourceVersion } = metadata;
  state.numbers += 1;
  // The cut may leave a trailing dot or dash, which no part of a name may end in.
  const head = name.slice(0, 200).replace(/[-.]+$/, '');
  const own = `${head}.${clock.now().getTime().toString(36)}${state.numbers.toString(36)}`;
  unwrap(
    await client.create(events, {
      metadata: { name: own, namespace },
      eventTime: printMicroTime(clock.now()),
      reportingController: CONTROLLER,
      reportingInstance: instance.slice(0, 128),
      regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
      ...{ type, reason, action, note },
    }),
  );
  remember(series, keyOf(event), { name: own, count: 1, seen_ms: clock.elapsed() });
}

function keyOf({ regarding, type, reason, note }: PendingEvent): string {
  return [regarding.metadata.uid, type, reason, note].join(' ');
}

function remember(series: State['series'], key: string, known: Series): void {
  series.delete(key);
  series.set(key, known);
  const [oldest] = series.keys();
  if (series.size > SERIES_MAX && oldest !== undefined) series.delete(oldest);
}

/** Cuts between two characters, never within one. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= NOTE_BYTES_MAX) return note;
  const kept = bytes.subarray(0, NOTE_BYTES_MAX - Buffer.byteLength(CUT));
  return `${new TextDecoder().decode(kept, { stream: true })}${CUT}`;
}
