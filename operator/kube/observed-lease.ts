/**
 * A Lease as one candidate sees and writes it: whether another holds it is counted from when this process saw that
 * holder's last sign. Every write is for the version that was seen, so that only one of several succeeds.
 */
import type { KubeClient } from './client.ts';
import type { Answer } from './kube-failure.ts';
import { type Lease, leases, printMicroTime, printSign } from './lease-record.ts';
import type { TimedClock } from './timed-clock.ts';

export type ObservedLease = {
  /** Reads the Lease; a missing one is no failure. */
  poll(): Promise<Answer<undefined>>;
  /** For how many ms another may still lead, by its last sign; also after the Lease disappeared. */
  heldFor(): number;
  /** The uid of the Lease last seen; empty if there was none. */
  uid(): string;
  /** Whether this term still holds the Lease last seen. */
  isOurs(epoch: number): boolean;
  /** The number for a new term: above every number seen here, and above `last`. */
  nextEpoch(last: number): number;
  take(epoch: number): Promise<Answer<undefined>>;
  renew(epoch: number): Promise<Answer<undefined>>;
  /** Leaves the Lease to the next holder; the number of the term stays. */
  giveUp(epoch: number): Promise<Answer<undefined>>;
};

export type LeasePlace = {
  client: KubeClient;
  namespace: string;
  name: string;
  identity: string;
  clock: TimedClock;
  duration_ms: number;
};

type State = LeasePlace & {
  lease: Lease | undefined;
  sign: string;
  held_until: number;
  /** The highest number of all terms seen, including ours, as a recreated Lease starts again. */
  highest: number;
  acquired: Date;
};

export function observeLease(place: LeasePlace): ObservedLease {
  const state: State = {
    ...place,
    lease: undefined,
    sign: '',
    held_until: 0,
    highest: 0,
    acquired: place.clock.now(),
  };
  const { identity, clock, duration_ms } = place;
  const holding = { holder: identity, seconds: duration_ms / 1000 };
  return {
    poll: () => poll(state),
    // Rounded up to whole milliseconds, as a timer is never set for less.
    heldFor: () => Math.max(0, Math.ceil(state.held_until - clock.elapsed())),
    uid: () => state.lease?.metadata.uid ?? '',
    isOurs: (epoch) =>
      state.lease?.spec?.holderIdentity === identity && state.lease.spec.leaseTransitions === epoch,
    nextEpoch: (last) => Math.max(state.highest, last) + 1,
    take: (epoch) => {
      state.acquired = clock.now();
      return write(state, { ...holding, epoch });
    },
    renew: (epoch) => write(state, { ...holding, epoch }),
    giveUp: (epoch) => write(state, { holder: '', seconds: 1, epoch }),
  };
}

async function poll(state: State): Promise<Answer<undefined>> {
  const { client, namespace, name } = state;
  const read = await client.get(leases, { namespace, name });
  if (!read.ok && read.failure.reason !== 'NotFound') return read;
  see(state, read.ok ? read.value : undefined);
  return { ok: true, value: undefined };
}

function see(state: State, lease: Lease | undefined): void {
  const sign = lease === undefined ? '' : printSign(lease);
  if (lease !== undefined && sign !== state.sign) {
    state.held_until = isAnothers(state, lease)
      ? state.clock.elapsed() + promisedBy(state, lease)
      : 0;
  }
  state.highest = Math.max(state.highest, lease?.spec?.leaseTransitions ?? 0);
  state.lease = lease;
  state.sign = sign;
}

function isAnothers({ identity }: State, { spec: { holderIdentity = '' } = {} }: Lease): boolean {
  return holderIdentity !== '' && holderIdentity !== identity;
}

function promisedBy({ duration_ms }: State, { spec }: Lease): number {
  const seconds = spec?.leaseDurationSeconds;
  return seconds === undefined ? duration_ms : seconds * 1000;
}

type Holding = { holder: string; seconds: number; epoch: number };

async function write(
  state: State,
  { holder, seconds, epoch }: Holding,
): Promise<Answer<undefined>> {
  const { client, namespace, name, clock, lease, acquired } = state;
  const body = {
    // Includes the version, and any labels that somebody added.
    metadata: lease?.metadata ?? { namespace, name },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: seconds,
      acquireTime: printMicroTime(acquired),
      renewTime: printMicroTime(clock.now()),
      leaseTransitions: epoch,
    },
  };
  const answer = await (lease === undefined
    ? client.create(leases, body)
    : client.replace(leases, body));
  if (!answer.ok) return answer;
  see(state, answer.value);
  return { ok: true, value: undefined };
}
