/**
 * Elects one of several operators to write: it holds a Lease, and gives it up when it stops. No two clocks are
 * compared: a candidate counts from when it saw the holder's last sign itself. A term has a number that every write
 * carries, so that a leader that was frozen cannot write after its successor.
 */
import type { Log } from '../../runtime/platform/log.ts';
import type { KubeClient } from './client.ts';
import type { KubeFailure } from './kube-failure.ts';
import type { KubeMetrics } from './metrics.ts';
import { type ObservedLease, observeLease } from './observed-lease.ts';
import { sleep, type TimedClock } from './timed-clock.ts';

export type Term = {
  /** Higher than in every earlier term; a write is refused once a higher number has been seen. */
  epoch: number;
  /** The uid of the Lease object: another one in another cluster or once the Lease is recreated. */
  lease_uid: string;
  /**
   * Aborted when the term is over or about to be: current work may finish, nothing new may begin.
   */
  signal: AbortSignal;
  /** Checked right before a write: true only while no other term can have begun. */
  isCurrent(): boolean;
};

export type Elector = {
  term(): Term | undefined;
  /** For how long the work of an ended term has been going on; 0 if there is none. */
  overdue_ms(): number;
  /** Ends the term once its work has ended, gives up the Lease, and resolves. */
  stop(): Promise<void>;
};

export type ElectorOptions = {
  /** Its deadline per call must be shorter than that of a renewal. */
  client: KubeClient;
  namespace: string;
  name: string;
  /** Unique to this process: the pod's name and a random part. */
  identity: string;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  random?: () => number;
  /** The highest number that the database has seen, as a recreated Lease starts from 0. */
  lastEpoch?: () => Promise<number>;
  /** The leader's work; it must end soon after the signal. */
  lead(term: Term): Promise<void>;
};

/** The same values as in controller-runtime. */
export const LEASE_MS = { duration: 15_000, renew: 10_000, retry: 2_000, call: 4_000 };
const RETRY_JITTER = 0.2;

type State = ElectorOptions & {
  lease: ObservedLease;
  random: () => number;
  signal: AbortSignal;
  running: Running | undefined;
};

/**
 * `until`: when the term ends unless renewed; counted from before the request, whereas candidates
 * count from after it.
 */
type Running = Term & { until: number; abort: () => void; ended: AbortController };

export function runElector(options: ElectorOptions): Elector {
  const stopped = new AbortController();
  const client = options.client.within(LEASE_MS.call);
  const state: State = {
    ...options,
    lease: observeLease({ ...options, client, duration_ms: LEASE_MS.duration }),
    random: options.random ?? Math.random,
    signal: stopped.signal,
    running: undefined,
  };
  options.metrics.leads(options.name, 0);
  const running = run(state);
  return {
    term: () => (state.running?.isCurrent() ? state.running : undefined),
    overdue_ms: () => Math.max(0, options.clock.elapsed() - (state.running?.until ?? Infinity)),
    stop: () => {
      stopped.abort();
      return running;
    },
  };
}

async function run(state: State): Promise<void> {
  const { clock, signal } = state;
  while (!signal.aborted) {
    if (state.running === undefined) await campaign(state);
    else await renew(state, state.running);
    const wait = state.running === undefined ? untilNextLook(state) : LEASE_MS.retry;
    await sleep(clock, wait, signal);
  }
  if (state.running !== undefined) await resign(state, state.running);
}

/**
 * If the Lease expires before the next regular look, the look is at its expiry: the next holder
 * loses no further turn.
 */
function untilNextLook({ lease, random }: State): number {
  const usual = LEASE_MS.retry * (1 + random() * RETRY_JITTER);
  const held_ms = lease.heldFor();
  return held_ms > 0 ? Math.min(usual, held_ms) : usual;
}

function failed({ log, name }: State, error: unknown): void {
  log.warn('a candidate cannot read the lease of the leader', { name, error });
}

/** Takes the Lease if nobody holds it, or if its holder gave no sign for its promised duration. */
async function campaign(state: State): Promise<void> {
  const { clock, lease } = state;
  const looked = await lease.poll();
  if (!looked.ok) {
    failed(state, looked.failure);
    return;
  }
  if (lease.heldFor() > 0) return;
  const epoch = lease.nextEpoch(await lastEpoch(state));
  const began = clock.elapsed();
  const taken = await lease.take(epoch);
  if (taken.ok) begin(state, { epoch, began });
  // Losing the race to another candidate is normal.
  else if (!isRace(taken.failure)) failed(state, taken.failure);
}

/**
 * Without a database there is still a leader, to report that; it cannot write there before the
 * number is known.
 */
async function lastEpoch(state: State): Promise<number> {
  try {
    return (await state.lastEpoch?.()) ?? 0;
  } catch (error) {
    failed(state, error);
    return 0;
  }
}

function isRace({ reason }: KubeFailure): boolean {
  return reason === 'Conflict' || reason === 'AlreadyExists';
}

type Begun = { epoch: number; began: number };

function begin(state: State, { epoch, began }: Begun): void {
  const { clock, lease, log, metrics, name } = state;
  const over = new AbortController();
  const running: Running = {
    epoch,
    lease_uid: lease.uid(),
    signal: over.signal,
    until: began + LEASE_MS.renew,
    isCurrent: () => clock.elapsed() < running.until,
    abort: () => over.abort(),
    ended: new AbortController(),
  };
  state.running = running;
  metrics.leads(name, 1);
  log.info('this process is now the leader', { name, generation: epoch });
  if (state.signal.aborted) over.abort();
  state.signal.addEventListener('abort', running.abort, { once: true });
  watchEnd(state, running);
  void work(state, running);
}

/** The signal follows the clock, even while a renewal hangs. */
function watchEnd(state: State, running: Running): void {
  const left = running.until - state.clock.elapsed();
  if (left <= 0) {
    running.abort();
    return;
  }
  const cancel = state.clock.after(left, () => watchEnd(state, running));
  running.ended.signal.addEventListener('abort', cancel, { once: true });
}

/** Whatever the result of the work, the term ends with it. */
async function work(state: State, running: Running): Promise<void> {
  try {
    if (!running.signal.aborted) await state.lead(running);
  } catch (error) {
    state.log.error('the work of the leader failed', { name: state.name, error });
  }
  running.abort();
  running.ended.abort();
}

/** Renews the term, or ends it once its work has ended. */
async function renew(state: State, running: Running): Promise<void> {
  const { clock, log, name } = state;
  if (running.ended.signal.aborted) {
    end(state, running);
    return;
  }
  if (!running.isCurrent()) return;
  const began = clock.elapsed();
  const answer = await state.lease.renew(running.epoch);
  if (answer.ok) {
    // A term that ended while the request was under way stays over.
    if (running.isCurrent()) running.until = began + LEASE_MS.renew;
    return;
  }
  log.warn('the leader lease could not be renewed', { name, error: answer.failure });
  const { reason } = answer.failure;
  if (reason === 'Conflict' || reason === 'NotFound') await reread(state, running);
}

/** Somebody changed the Lease: another leader, or a person who labels or deletes things. */
async function reread({ lease, clock }: State, running: Running): Promise<void> {
  const looked = await lease.poll();
  if (!looked.ok || lease.isOurs(running.epoch)) return;
  running.until = Math.min(running.until, clock.elapsed());
  running.abort();
}

function end(state: State, running: Running): void {
  running.until = 0;
  state.signal.removeEventListener('abort', running.abort);
  state.running = undefined;
  state.metrics.leads(state.name, 0);
  state.log.info('this process is no longer the leader', {
    name: state.name,
    generation: running.epoch,
  });
}

/**
 * Holds the Lease until the work has ended, then gives it up: the next leader begins within its
 * retry interval.
 */
async function resign(state: State, running: Running): Promise<void> {
  const { lease, clock, log, name } = state;
  while (!running.ended.signal.aborted) {
    await sleep(clock, LEASE_MS.retry, running.ended.signal);
    if (!running.ended.signal.aborted) await renew(state, running);
  }
  const isOurs = running.isCurrent();
  end(state, running);
  if (!isOurs) return;
  const answer = await lease.giveUp(running.epoch);
  if (!answer.ok)
    log.warn('the leader lease could not be released', { name, error: answer.failure });
}
