// Spec: Upload session (status).
import { expect, it } from 'vitest';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { scalePool } from '../../../operator/scaler/scale-pool.ts';
import { silentLog as log } from '../kube/silent-log.ts';

it('a pool is scaled even if a policy forbids annotating one of its pods', async () => {
  const written: object[] = [];
  const pod = {
    metadata: { name: 'a', namespace: 'images', uid: 'a', resourceVersion: '1' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
  const failure = new KubeFailure({ reason: 'Forbidden', message: 'no annotations here' });
  const client = {
    get: async () => ({ ok: true, value: { metadata: {}, spec: { replicas: 1 } } }),
    listPage: async () => ({ ok: true, value: { items: [pod] } }),
    merge: async ({ kind }: { kind: string }, _place: object, { body }: { body: object }) => {
      if (kind === 'Pod') return { ok: false, failure };
      written.push(body);
      return { ok: true, value: {} };
    },
  } as unknown as KubeClient;
  const sizes = { min: 1, max: 3, queue_length: 2, queues: ['ours'], stable_seconds: 0 };
  const place = {
    ...{ name: 'main', namespace: 'images' },
    pool: { component: 'worker-ingest' as const, ...sizes },
  };
  const depths = [{ queue: 'ours', waiting: 20, listeners: 1 }];
  const looked = await scalePool(
    place,
    { depths, recommendations: [], now_ms: 0 },
    { client, scrape: async () => 2, log },
  );
  expect(looked).toMatchObject({ from: 1, to: 3 });
  expect(written).toEqual([{ spec: { replicas: 3 } }]);
});
