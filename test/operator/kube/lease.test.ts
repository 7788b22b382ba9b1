import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Elector,
  type ElectorOptions,
  runElector,
  type Term,
} from '../../../operator/kube/lease.ts';
import type { Lease } from '../../../operator/kube/lease-record.ts';
import type { TimedClock } from '../../../operator/kube/timed-clock.ts';
import { startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { kubeOk, type PlaneAddress } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { connectKube } from './connect.ts';
import { createQuickClock } from './quick-clock.ts';
import { silentLog } from './silent-log.ts';

const TIMES = 8;
const PATIENT = { timeout: 60_000 };

const shared = useControlPlane();
let namespace: string;
let running: (() => Promise<void>)[];

beforeEach(async () => {
  namespace = await shared.namespace();
  running = [];
});
afterEach(async () => {
  for (const stop of running) await stop();
});

type Candidate = Elector & { identity: string };

/** Candidates for one lease. `said` lists when their terms begin and end, in order. */
function election() {
  const said: string[] = [];
  const candidates: Candidate[] = [];
  return {
    said,
    candidates,
    add: (
      identity: string,
      options: Partial<ElectorOptions> & { plane?: PlaneAddress } = {},
    ): Candidate => {
      const clock = createQuickClock(TIMES);
      const { plane = shared.plane(), ...rest } = options;
      const connected = connectKube(plane, { clock });
      const elector = runElector({
        ...connected,
        ...{ namespace, name: 'operator', identity, clock, log: silentLog },
        lead: (term) => {
          said.push(`${identity} begins ${term.epoch}`);
          return untilOver(term, () => said.push(`${identity} ends ${term.epoch}`));
        },
        ...rest,
      });
      running.push(async () => {
        await elector.stop();
        connected.client.close();
      });
      const candidate = { ...elector, identity };
      candidates.push(candidate);
      return candidate;
    },
  };
}

/** A clock that shows a different hour but runs at the same rate as the others. */
function skewed(hours: number): TimedClock {
  const now = () => new Date(Date.now() + hours * 3_600_000);
  return { ...createQuickClock(TIMES), now };
}

function untilOver({ signal }: Term, ended: () => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      ended();
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

const leasePath = () => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/operator`;
const readLease = async () =>
  (await kubeOk(shared.plane(), { path: leasePath() })) as unknown as Lease;

describe('one of several operators', () => {
  it('leads, and when it stops the next one leads in a term with a higher number', async () => {
    const { said, add } = election();
    const a = add('a');
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
    const b = add('b');
    await untilRenewed();
    expect(b.term()).toBeUndefined();
    expect((await readLease()).spec).toMatchObject({ holderIdentity: 'a', leaseTransitions: 1 });
    await a.stop();
    expect(a.term()).toBeUndefined();
    await expect.poll(() => b.term()?.epoch, PATIENT).toBe(2);
    expect(said).toEqual(['a begins 1', 'a ends 1', 'b begins 2']);
  });

  it('keeps its lease while it renews it, whatever the clocks of the others say', async () => {
    const { said, add } = election();
    const a = add('a');
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
    add('early', { clock: skewed(-1) });
    add('late', { clock: skewed(1) });
    const first = (await readLease()).spec?.renewTime;
    for (let renewals = 0, last = first; renewals < 10; ) {
      const { renewTime } = (await readLease()).spec ?? {};
      if (renewTime !== last) renewals += 1;
      last = renewTime;
    }
    expect(said).toEqual(['a begins 1']);
  });

  it.each([
    [0, 0],
    [-1, 1],
    [1, -1],
  ])(
    'ends before another begins when it is cut off, with its clock %i hours off and the other %i',
    async (own, next) => {
      const proxy = await startKubeFaultProxy(shared.plane());
      const { said, add } = election();
      const a = add('a', { plane: proxy, clock: skewed(own) });
      await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
      const b = add('b', { clock: skewed(next) });
      await untilRenewed();
      await proxy.close();
      await expect.poll(() => b.term()?.epoch, PATIENT).toBe(2);
      expect(said).toEqual(['a begins 1', 'a ends 1', 'b begins 2']);
      expect(a.term()).toBeUndefined();
    },
  );

  it('ends its term when its lease is deleted, and every later term has a higher number', async () => {
    const { said, add } = election();
    const a = add('a', { lastEpoch: async () => 41 });
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(42);
    await kubeOk(shared.plane(), { method: 'DELETE', path: leasePath() });
    await expect.poll(() => said, PATIENT).toContain('a ends 42');
    await expect.poll(() => a.term(), PATIENT).toBeDefined();
    expect(said.at(-1)).toBe('a begins 43');
  });

  it('keeps leading when somebody labels its lease, and keeps the label', async () => {
    const { said, add } = election();
    const a = add('a');
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
    await kubeOk(shared.plane(), {
      method: 'PATCH',
      path: leasePath(),
      body: { metadata: { labels: { team: 'images' } } },
      content_type: 'application/merge-patch+json',
    });
    await untilRenewed();
    expect((await readLease()).metadata.labels).toEqual({ team: 'images' });
    expect(said).toEqual(['a begins 1']);
  });

  it('holds the lease until the work that it aborted has ended', async () => {
    const { add } = election();
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const a = add('a', { lead: () => work });
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
    const term = a.term();
    const b = add('b');
    const stopped = a.stop();
    expect(term?.signal.aborted).toBe(true);
    await untilRenewed();
    expect([term?.isCurrent(), b.term()]).toEqual([true, undefined]);
    finish();
    await stopped;
    expect(term?.isCurrent()).toBe(false);
    await expect.poll(() => b.term()?.epoch, PATIENT).toBe(2);
  });

  it('begins a new term when the work of the last one failed', async () => {
    const { add } = election();
    const epochs: number[] = [];
    add('a', {
      lead: async (term) => {
        epochs.push(term.epoch);
        if (term.epoch === 1) throw new Error('the database is down');
        await untilOver(term);
      },
    });
    await expect.poll(() => epochs, PATIENT).toEqual([1, 2]);
  });

  it('leads even while the last epoch in the database is unknown', async () => {
    const { add } = election();
    const a = add('a', { lastEpoch: () => Promise.reject(new Error('the database is down')) });
    await expect.poll(() => a.term()?.epoch, PATIENT).toBe(1);
  });
});

it('a frozen leader writes at most once more when it wakes up after another took over', async () => {
  const frozen = await startProcess();
  await frozen.said(/^writes 1$/m);
  const { add, said } = election();
  const b = add('b');
  await untilRenewed();
  frozen.kill('SIGSTOP');
  await expect.poll(() => b.term()?.epoch, PATIENT).toBe(2);
  const before = frozen.output();
  frozen.kill('SIGCONT');
  await frozen.said(/^ends 1$/m);
  // The process may have been frozen between its check and its write. The fence rejects such a
  // write by its epoch.
  const after = frozen.output().slice(before.length).split('\n');
  expect(after.filter((line) => line.startsWith('writes')).length).toBeLessThanOrEqual(1);
  expect(said).toEqual(['b begins 2']);
  await b.stop();
  await frozen.said(/^writes 3$/m);
  frozen.kill('SIGTERM');
  expect(await frozen.exited).toBe(0);
  expect((await readLease()).spec).toMatchObject({ holderIdentity: '', leaseTransitions: 3 });
});

async function startProcess() {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-elector-'));
  const file = join(folder, 'plane.json');
  await writeFile(file, JSON.stringify(shared.plane()));
  const script = new URL('elector-process.ts', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [script, file, namespace, String(TIMES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  running.push(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true });
  });
  return {
    output: () => output,
    said: (pattern: RegExp) => expect.poll(() => output, PATIENT).toMatch(pattern),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    exited,
  };
}

/** Waits for a renewal of the lease, by which time every candidate has read it. */
async function untilRenewed(): Promise<void> {
  const last = (await readLease()).spec?.renewTime;
  await expect.poll(async () => (await readLease()).spec?.renewTime, PATIENT).not.toBe(last);
}
