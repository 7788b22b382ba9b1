/** Empty values in a Project remove what exists, whoever created it; omitted values keep it. */
import { expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeRequest } from '../support/kube-request.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, condition, led, read, remove, untilGone, untilReason } = cluster;

const project = async (slug: string) => must(await findProjectBySlug(db, slug));
const planOnly = { annotations: { 'tintype.dev/plan-only': 'true' } };

async function untilPlanned(name: string, ...lines: readonly string[]): Promise<void> {
  const message = lines.join('\n');
  await until(async () =>
    expect(await condition('Project', name, 'Planned')).toMatchObject({ message }),
  );
}

it('an empty callback url removes the callback and its Secret, leaving it out keeps both', async () => {
  const name = newSlug();
  const url = 'https://shop.example/hook';
  const secret = { path: `/api/v1/namespaces/${cluster.namespace()}/secrets/${name}` };
  const isPresent = async () => (await kubeRequest(cluster.plane(), secret)).status === 200;
  await led(async () => {
    await apply('Project', name, { callback: { url, secretName: name } });
    await untilReason('Project', name, 'InSync');
    await apply('Project', name, {});
    await untilReason('Project', name, 'InSync');
    expect((await project(name)).callback_url).toBe(url);
    const rotated = { callback: { url, secretName: name, rotationTrigger: '2' } };
    await apply('Project', name, rotated, planOnly);
    await untilPlanned(
      name,
      `~ projects ${name} { callback_rotation_trigger: null → "2", callback_secret_sealed: (the one before) → (a new secret) }`,
      `~ Secret ${cluster.namespace()}/${name}`,
    );
    await apply('Project', name, { callback: { url: '' } }, planOnly);
    await untilPlanned(
      name,
      `~ projects ${name} { callback_url: "https://shop.example/…" → null, callback_secret_sealed: (the one before) → (none any more) }`,
      `- Secret ${cluster.namespace()}/${name}`,
    );
    expect(await isPresent()).toBe(true);
    await apply('Project', name, { callback: { url: '' } });
    await untilReason('Project', name, 'InSync');
    expect(await project(name)).toMatchObject({ callback_url: null, callback_secret_sealed: null });
    await until(async () => expect(await isPresent()).toBe(false));
    const { annotations } = (await read('Project', name)).metadata as {
      annotations?: Record<string, string>;
    };
    expect(annotations?.['tintype.dev/callback-secrets']).toBe('');
    await apply('Project', name, { callback: { url, secretName: name } });
    await untilReason('Project', name, 'InSync');
    await until(async () => expect(await isPresent()).toBe(true));
  });
});

it('the Secret of a retained Project is deleted, and restored with its key when declared again', async () => {
  const name = newSlug();
  const callback = { url: 'https://shop.example/hook', secretName: name };
  const path = `/api/v1/namespaces/${cluster.namespace()}/secrets/${name}`;
  const secret = async () => (await kubeRequest(cluster.plane(), { path })).body['data'];
  await led(async () => {
    await apply('Project', name, { callback, deletionPolicy: 'Retain' });
    await untilReason('Project', name, 'InSync');
    const before = await secret();
    expect(before).toBeDefined();
    await remove('Project', name);
    await untilGone('Project', name);
    await until(async () => expect(await secret()).toBeUndefined());
    expect(await project(name)).toMatchObject({ status: 'active', callback_url: callback.url });
    await apply('Project', name, { callback });
    await untilReason('Project', name, 'InSync');
    await until(async () => expect(await secret()).toEqual(before));
  });
});

it('an empty name removes the default watermark and frees its preset, leaving it out keeps it', async () => {
  const name = newSlug();
  const watermark = async () => (await project(name)).default_watermark_preset_id;
  await led(async () => {
    await apply('Project', name, {});
    await untilReason('Project', name, 'InSync');
    await makeFile(db, await project(name), { file_slug: 'logo.png' });
    await apply('WatermarkPreset', name, { projectRef: { name }, fileSlug: 'logo.png' });
    await apply('Project', name, { defaultWatermarkPresetRef: { name } });
    await untilReason('Project', name, 'InSync');
    await apply('Project', name, {});
    await untilReason('Project', name, 'InSync');
    expect(await watermark()).toMatch(/^wm_/);
    await apply('Project', name, { defaultWatermarkPresetRef: { name: '' } });
    await untilReason('Project', name, 'InSync');
    expect(await watermark()).toBeNull();
    await remove('WatermarkPreset', name);
    await untilGone('WatermarkPreset', name);
  });
});

it('an empty storageHardLimit restores the limit of the plan, leaving it out keeps the limit of staff', async () => {
  const name = newSlug();
  const limit = async () => (await project(name)).storage_hard_limit_bytes;
  const declare = async (spec: object) => {
    await apply('Project', name, spec);
    await untilReason('Project', name, 'InSync');
  };
  await led(async () => {
    await declare({ staff: { storageHardLimit: '1Gi' } });
    expect(await limit()).toBe(2 ** 30);
    await declare({});
    expect(await limit()).toBe(2 ** 30);
    await declare({ staff: { storageHardLimit: '' } });
    expect(await limit()).toBeNull();
  });
});

it('the API server rejects a callback url without secretName', async () => {
  const callback = { url: 'https://shop.example/hook' };
  await expect(apply('Project', newSlug(), { callback })).rejects.toThrow(
    '`secretName` must be set with a `url`',
  );
});
