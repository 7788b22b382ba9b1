// Spec: Project (custom_domains).
import { expect, it } from 'vitest';
import type { DeleteOptions, KubeClient } from '../../../operator/kube/client.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import { applyRoute } from '../../../operator/routes/apply.ts';
import type { RouteStep } from '../../../operator/routes/decide.ts';

/** Its routes of one of these names are somebody else's. */
function clientOf(taken: readonly string[]) {
  const asked: string[] = [];
  const client = {
    apply: async (_type: unknown, { metadata: { name } }: { metadata: { name: string } }) => {
      asked.push(`apply ${name}`);
      const failure = new KubeFailure({ reason: 'Conflict', message: 'taken' });
      return taken.includes(name) ? { ok: false, failure } : { ok: true, value: {} };
    },
    delete: async (_type: unknown, { name }: { name: string }, { uid }: DeleteOptions = {}) => {
      asked.push(`delete ${name} of uid ${uid}`);
      const failure = new KubeFailure({ reason: 'Conflict', message: 'another uid' });
      return taken.includes(name) ? { ok: false, failure } : { ok: true };
    },
  } as unknown as KubeClient;
  return { client, asked };
}

const namespace = 'edge';
const steps = [
  ...['shop', 'shop.2', 'shop.3'].map((name) => ({
    ...{ do: 'apply', to: 'new' },
    route: { mode: 'Gateway', hosts: [], metadata: { name, namespace }, spec: {} },
  })),
  {
    do: 'delete',
    route: { mode: 'Gateway', object: { metadata: { name: 'old', namespace, uid: 'u-1' } } },
  },
] as unknown as RouteStep[];

it('writes all other routes where one is refused, tells the first refusal, and takes nothing away', async () => {
  const { client, asked } = clientOf(['shop', 'shop.3']);
  const message = expect.stringContaining(`'edge/shop' is there`);
  expect(await applyRoute(client, steps)).toEqual({ reason: 'RouteTaken', message });
  expect(asked).toEqual(['apply shop', 'apply shop.2', 'apply shop.3']);
});

it('takes away what is one too many once all others are there', async () => {
  const { client, asked } = clientOf([]);
  expect(await applyRoute(client, steps)).toBeUndefined();
  expect(asked.at(-1)).toBe('delete old of uid u-1');
});

it('leaves another one alone that has the name of what was to go by now', async () => {
  const { client, asked } = clientOf(['old']);
  expect(await applyRoute(client, steps)).toBeUndefined();
  expect(asked.at(-1)).toBe('delete old of uid u-1');
});
