// Spec: Upload session (status).
import { describe, expect, it } from 'vitest';
import { loadOf, readPods, type WorkerPod } from '../../../operator/scaler/read-load.ts';

type Said = { ready?: 'True' | 'False'; phase?: string; isBeingDeleted?: boolean };

function pod(
  name: string,
  { ready = 'True', phase = 'Running', isBeingDeleted }: Said = {},
): WorkerPod {
  const going = isBeingDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return {
    metadata: { name, uid: name, resourceVersion: '1', ...going },
    status: { phase, conditions: [{ type: 'Ready', status: ready }] },
  };
}

async function statesOf(pods: WorkerPod[], inHand: Record<string, number> = {}) {
  const loads = await readPods(pods, async ({ metadata }) => inHand[metadata.name]);
  return loads.map(({ pod: { metadata }, state, in_hand }) => [metadata.name, state, in_hand]);
}

describe('a worker pod', () => {
  it('is idle if it reports nothing in hand, and busy otherwise', async () => {
    expect(await statesOf([pod('a'), pod('b')], { a: 0, b: 2 })).toEqual([
      ['a', 'idle', 0],
      ['b', 'busy', 2],
    ]);
  });

  it('that is ready and does not answer counts as busy, so that it is not removed first', async () => {
    expect(await statesOf([pod('silent')])).toEqual([['silent', 'busy', 0]]);
  });

  it('that is not ready and does not answer counts as idle', async () => {
    expect(await statesOf([pod('new', { ready: 'False' })])).toEqual([['new', 'idle', 0]]);
  });

  it('that is no longer ready and still has something in hand is busy', async () => {
    const cut = pod('cut', { ready: 'False' });
    expect(await statesOf([cut], { cut: 3 })).toEqual([['cut', 'busy', 3]]);
    expect(await statesOf([cut], { cut: 0 })).toEqual([['cut', 'idle', 0]]);
  });

  it('that is terminating or has ended is not part of the pool', async () => {
    const pods = [pod('going', { isBeingDeleted: true }), pod('over', { phase: 'Succeeded' })];
    expect(await statesOf(pods)).toEqual([]);
  });
});

it('the load of a pool is what waits in its own queues and what its pods have in hand', async () => {
  const inHand: Record<string, number> = { a: 0, b: 2 };
  const pods = await readPods(
    [pod('a'), pod('b'), pod('silent')],
    async ({ metadata }) => inHand[metadata.name],
  );
  const depths = [
    { queue: 'ours', waiting: 3, listeners: 1 },
    { queue: 'others', waiting: 50, listeners: 1 },
  ];
  expect(loadOf(['ours'], depths, pods)).toEqual({ waiting: 3, in_hand: 2, busy_pods: 2 });
});
