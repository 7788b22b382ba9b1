/** What a pass postpones for objects that somebody changes back, and what it still does immediately. */
import { expect, it } from 'vitest';
import { digest, type RenderedObject } from '../../../operator/image-service/render/object.ts';
import { renderInstallation } from '../../../operator/image-service/render/render.ts';
import { apply, presentOf } from '../../../operator/image-service/steps.ts';
import { applySteps } from '../../../operator/installation/apply-steps.ts';
import { liveKey } from '../../../operator/installation/observe.ts';
import { requeueAfter } from '../../../operator/installation/requeue-after.ts';
import { createWriteHistory } from '../../../operator/installation/write-history.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { installation, least } from '../image-service/samples.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';

const policy = renderInstallation(installation(least)).ground.find(
  ({ kind }) => kind === 'NetworkPolicy',
) as RenderedObject;
const declared = policy['spec'] as object;

/**
 * Runs passes over one object. `look` takes the spec that somebody left; `mutations` returns what the
 * cluster stores of a written spec.
 */
function passes(mutations: (spec: object) => object) {
  const clock = createManualTimedClock();
  const history = createWriteHistory(clock);
  const stored = (spec: object) => {
    const annotations = { 'tintype.dev/applied': digest(policy) };
    const metadata = { ...policy.metadata, annotations, uid: 'u', resourceVersion: '1' };
    return { ...policy, metadata, spec };
  };
  return {
    clock,
    look: async (spec: object | undefined) => {
      const answer = async () => ({ ok: true, value: stored(mutations(spec ?? {})) });
      const failure = new KubeFailure({ reason: 'NotFound', message: 'none' });
      const client = {
        ...{ apply: answer, merge: answer },
        get: async () => ({ ok: false, failure }),
      } as unknown as KubeClient;
      const live = new Map(
        spec === undefined ? [] : [[liveKey(presentOf(policy)), stored(spec) as never]],
      );
      const { written, problems } = await applySteps(client, [apply(policy)], { live, history });
      return { changes: written.map(({ change }) => change), problems };
    },
  };
}

it('an object that a policy changes may be scaled by others without counting as undone', async () => {
  const { clock, look } = passes((spec) => spec);
  for (const replicas of [1, 2, 3, 4, 5, 6]) {
    const result = await look({ ...declared, policyTypes: ['Egress'], replicas });
    expect(result).toEqual({ changes: [], problems: [] });
    clock.advance(10_000);
  }
});

it('an object that rests after repeated changes is recreated immediately when it is deleted', async () => {
  const { clock, look } = passes(() => declared);
  const changed = { ...declared, policyTypes: ['Egress'] };
  const undone = { name: policy.metadata.name, reason: 'ObjectUndone' };
  for (let seconds = 0; seconds < 10; seconds += 1) {
    await look(changed);
    clock.advance(1_000);
  }
  expect(await look(changed)).toMatchObject({ changes: [], problems: [undone] });
  expect(await look(undefined)).toEqual({ changes: ['create'], problems: [] });
  expect(await look(changed)).toMatchObject({ problems: [undone] });
});

it('an object that somebody deletes again and again rests before it is recreated', async () => {
  const { clock, look } = passes(() => declared);
  const result = [];
  for (let times = 0; times < 5; times += 1) {
    result.push(await look(undefined));
    clock.advance(100);
  }
  expect(result.map(({ changes }) => changes.length)).toEqual([1, 1, 0, 0, 0]);
});

it('an object that is changed back slowly is reported between two changes, until it stays', async () => {
  const { clock, look } = passes(() => declared);
  const changed = { ...declared, policyTypes: ['Egress'] };
  await look(undefined);
  for (let times = 0; times < 4; times += 1) {
    clock.advance(120_000);
    await look(changed);
    clock.advance(4_000);
    await look(changed);
  }
  const undone = { name: policy.metadata.name, reason: 'ObjectUndone' };
  expect(await look(declared)).toMatchObject({ changes: [], problems: [undone] });
  clock.advance(300_000);
  expect(await look(declared)).toEqual({ changes: [], problems: [] });
});

it('a long rest does not delay the next look at anything else', () => {
  const resting = { problems: [], retry_after_ms: 256_000 };
  expect(requeueAfter(resting, { requeue_after_seconds: 15 })).toBe(15);
  expect(requeueAfter(resting, { requeue_after_seconds: undefined })).toBe(256);
  expect(requeueAfter({ problems: [] }, { requeue_after_seconds: undefined })).toBeUndefined();
});
