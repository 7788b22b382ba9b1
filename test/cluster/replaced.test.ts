/**
 * Resources that are replaced with their manifests (`kubectl replace`, Argo CD's `Replace=true`), which lack what the
 * operator added to them. The resync interval is long, so that only the change itself can restore it.
 */
import { expect, it } from 'vitest';
import { HOUR_MS } from '../../runtime/core/durations.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk, kubeRequest } from '../support/kube-request.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db, often: { resync_ms: HOUR_MS, retry_ms: HOUR_MS } });
const { apply, led, path, plane, read, untilReason } = cluster;

const FINALIZERS = ['tintype.dev/rows'];

function callback(secretName: string) {
  return { callback: { url: 'https://shop.example/hook', secretName } };
}

/** As kubectl does: a PUT with the current version, repeated after a conflict. */
async function replace(kind: string, name: string, spec: object): Promise<void> {
  await until(async () => {
    const { resourceVersion } = (await read(kind, name)).metadata;
    const metadata = { name, namespace: cluster.namespace(), resourceVersion };
    const body = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata, spec };
    await kubeOk(plane(), { method: 'PUT', path: path(kind, name), body });
  });
}

async function held(kind: string, name: string) {
  const { metadata } = await kubeOk(plane(), { path: path(kind, name) });
  const { finalizers, annotations } = metadata as {
    finalizers?: string[];
    annotations?: Record<string, string>;
  };
  return { finalizers, secretNames: annotations?.['tintype.dev/callback-secrets'] };
}

async function untilHeld(kind: string, name: string, secretNames?: string): Promise<void> {
  const expected = { finalizers: FINALIZERS, secretNames };
  await until(async () => expect(await held(kind, name)).toEqual(expected));
}

async function untilSecret(name: string, status: 200 | 404): Promise<void> {
  const secret = `/api/v1/namespaces/${cluster.namespace()}/secrets/${name}`;
  await until(async () =>
    expect((await kubeRequest(plane(), { path: secret })).status).toBe(status),
  );
}

it('a replaced resource gets its finalizer and its annotation of callback Secrets back immediately', async () => {
  const name = newSlug();
  const recipe = { projectRef: { name }, transformChain: 'resize/640x480/smart' };
  await apply('Project', name, callback(name));
  await apply('Recipe', name, recipe);
  await led(async () => {
    await untilHeld('Project', name, name);
    await untilHeld('Recipe', name);
    await replace('Project', name, callback(name));
    await replace('Recipe', name, recipe);
    await untilHeld('Project', name, name);
    await untilHeld('Recipe', name);
    await untilSecret(name, 200);
  });
});

it('a Secret that is no longer named is deleted, even if the same write removed the annotation that named it', async () => {
  const name = newSlug();
  const [first, second, third] = [`${name}-1`, `${name}-2`, `${name}-3`];
  await apply('Project', name, callback(first));
  await led(async () => {
    await untilHeld('Project', name, first);
    await replace('Project', name, callback(second));
    await untilHeld('Project', name, second);
    await untilSecret(second, 200);
    await untilSecret(first, 404);
    // Without `callback`, the API decides about it, so the Secret stays and the operator knows it.
    await replace('Project', name, {});
    await untilHeld('Project', name, second);
    await untilSecret(second, 200);
    await replace('Project', name, callback(third));
    await untilHeld('Project', name, third);
    await untilSecret(second, 404);
    await replace('Project', name, { callback: { url: '' } });
    await untilHeld('Project', name, '');
    await untilSecret(third, 404);
  });
});

it('a Secret that is no longer named is deleted, even if nobody led when its Project was replaced', async () => {
  const name = newSlug();
  const [first, second] = [`${name}-1`, `${name}-2`];
  await apply('Project', name, callback(first));
  await led(() => untilHeld('Project', name, first));
  await replace('Project', name, callback(second));
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    await untilHeld('Project', name, second);
    await untilSecret(first, 404);
  });
});
