/** What a pass does about objects that the API server takes, refuses or cannot judge now. */
import { expect, it } from 'vitest';
import { renderInstallation } from '../../../operator/image-service/render/render.ts';
import { apply, remove } from '../../../operator/image-service/steps.ts';
import { carryOut } from '../../../operator/installation/carry-out.ts';
import { liveKey } from '../../../operator/installation/observe.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { type FailureReason, KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { installation, least } from '../image-service/samples.ts';

const [refused, taken] = renderInstallation(installation(least)).ground;
if (refused === undefined || taken === undefined) throw new Error('two objects are rendered first');
const old = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main-api' };

/** With an API server that refuses one object. */
async function carriedOut(reason: FailureReason | undefined) {
  const failure = (of: FailureReason) => ({
    ok: false as const,
    failure: new KubeFailure({ reason: of, message: 'failed calling webhook' }),
  });
  const deleted: string[] = [];
  const client = {
    get: async () => failure('NotFound'),
    apply: async (_type: unknown, object: { metadata: { name: string } }) =>
      reason !== undefined && object.metadata.name === refused?.metadata.name
        ? failure(reason)
        : { ok: true, value: object },
    delete: async (_type: unknown, { name }: { name: string }) => {
      deleted.push(name);
      return { ok: true, value: undefined };
    },
  } as unknown as KubeClient;
  const metadata = { name: old.name, namespace: 'tintype', uid: 'u', resourceVersion: '1' };
  const live = new Map([[liveKey(old), { ...old, metadata }]]);
  const steps = [...[refused, taken].flatMap((each) => (each ? [apply(each)] : [])), remove(old)];
  const { written, troubles } = await carryOut(client, steps, live);
  return { written: written.map(({ change, name }) => [change, name]), troubles, deleted };
}

it('takes away what is declared no more, once everything else was written', async () => {
  expect((await carriedOut(undefined)).deleted).toEqual(['main-api']);
});

it.each(['Invalid', 'Unavailable'] as const)(
  'takes nothing away after %s, and writes the others',
  async (reason) => {
    const { written, troubles, deleted } = await carriedOut(reason);
    expect(deleted).toEqual([]);
    expect(written).toEqual([['create', taken.metadata.name]]);
    expect(troubles).toHaveLength(1);
  },
);
