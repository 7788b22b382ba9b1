// Spec: Watermark preset; Recipe.
import { expect, it } from 'vitest';
import { createMissingOwners } from '../../../operator/cluster/missing-owners.ts';
import type { TenantObject } from '../../../operator/cluster/tenant-object.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';

/** Whether an owner is known to be gone before and after asking the API server. */
async function known(found: TenantObject | KubeFailure | undefined, watched = 'team') {
  let asked = 0;
  const missing = createMissingOwners({
    watches: (namespace) => namespace === watched,
    findObjectNow: async () => {
      asked += 1;
      if (found instanceof KubeFailure) throw found;
      return found;
    },
  });
  const owner = { namespace: 'team', name: 'logo', uid: 'uid' };
  missing.note('WatermarkPreset', owner);
  const before = missing.isGone(owner);
  const isMore = await missing.ask();
  return { before, isMore, after: missing.isGone(owner), asked };
}

const has = (uid: string) => ({ metadata: { uid } }) as TenantObject;

it('an owner that no cache has counts as gone once the API server has confirmed it', async () => {
  expect(await known(undefined)).toEqual({ before: false, isMore: true, after: true, asked: 1 });
});

it.each([
  ['that exists', has('uid')],
  ['with an existing namesake, which may take over its row', has('another')],
  [
    'that the API server failed to look up',
    new KubeFailure({ reason: 'Unavailable', message: '' }),
  ],
])('an owner %s does not count as gone', async (_what, found) => {
  expect(await known(found)).toEqual({ before: false, isMore: false, after: false, asked: 1 });
});

it('an owner in a namespace that is not watched does not count as gone, and the API server is not asked', async () => {
  const nothing = { before: false, isMore: false, after: false, asked: 0 };
  expect(await known(undefined, 'another')).toEqual(nothing);
});
