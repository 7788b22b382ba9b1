// The operator grants trials and uploads images in place of the API, with the same plans and switches.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiSettings, SettingsUnknown } from '../../operator/api-settings.ts';
import type { ConfigMap } from '../../operator/kube/core-types.ts';
import { KubeFailure } from '../../operator/kube/kube-failure.ts';
import type { EdgeFound } from '../../operator/routes/edge.ts';
import { defaultPlans } from '../../runtime/core/plans.ts';
import { parseConfig } from '../../runtime/platform/config.ts';
import { edgeOf } from './routes/samples.ts';

const trial = (credits: number) =>
  `trial: { credits: ${credits}, granted: once, storage_bytes: 9 }`;
const plansConfigMapRef = { name: 'plans', key: 'plans.yaml' };
const absent: EdgeFound = { state: 'absent', why: 'there is none' };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-settings-'));
  writeFileSync(join(folder, 'plans.yaml'), trial(2));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Held = Pick<ConfigMap, 'data' | 'binaryData'>;
const holding = (text: string): Held => ({ data: { 'plans.yaml': text } });

/** Finds the settings, with `held` as the ConfigMap of plans in the ImageService's namespace. */
function find(
  found: EdgeFound,
  env: Record<string, string> = {},
  held: Held | KubeFailure = holding(trial(5)),
) {
  const get = async (_type: unknown, place: { name: string; namespace: string }) => {
    expect(place).toEqual({ name: 'plans', namespace: 'images' });
    return held instanceof KubeFailure ? { ok: false, failure: held } : { ok: true, value: held };
  };
  const client = { get: get as never };
  return createApiSettings(parseConfig(env), { client, findEdge: async () => found })();
}

describe('the plans that the operator applies', () => {
  it('come from the ConfigMap that the ImageService names', async () => {
    const { plans } = await find(edgeOf({ plansConfigMapRef }));
    expect(plans).toMatchObject({ trial: { credits: 5, storage_bytes: 9 } });
  });
  it('are read from binaryData if the file is not UTF-8, as a pod reads them', async () => {
    const latin1 = Buffer.from(`# für alle\n${trial(5)}`, 'latin1');
    const held = { binaryData: { 'plans.yaml': latin1.toString('base64') } };
    const { plans } = await find(edgeOf({ plansConfigMapRef }), {}, held);
    expect(plans.trial.credits).toBe(5);
  });
  it('are the default plans if the ImageService names none or does not exist', async () => {
    expect((await find(edgeOf())).plans).toEqual(defaultPlans);
    expect((await find(absent)).plans).toEqual(defaultPlans);
  });
  it('come from the operator’s own file if TINTYPE_PLANS names one', async () => {
    const env = { TINTYPE_PLANS: join(folder, 'plans.yaml') };
    expect((await find(edgeOf({ plansConfigMapRef }), env)).plans.trial.credits).toBe(2);
  });
  it('are unknown, with the reason, if the ConfigMap is wrong or missing or the ImageService is invalid', async () => {
    const asked = find(edgeOf({ plansConfigMapRef }), {}, holding('trial: {}'));
    await expect(asked).rejects.toThrow(/ConfigMap images\/plans: trial\.credits/);
    await expect(asked).rejects.toBeInstanceOf(SettingsUnknown);
    const invalid = { state: 'invalid', why: 'wrong', deliveryRootDomain: undefined } as const;
    await expect(find(invalid)).rejects.toThrow(new SettingsUnknown('wrong'));
    const missing = new KubeFailure({
      reason: 'NotFound',
      message: 'configmaps "plans" not found',
    });
    await expect(find(edgeOf({ plansConfigMapRef }), {}, missing)).rejects.toThrow(
      new SettingsUnknown('the ConfigMap images/plans, which has the plans, does not exist'),
    );
  });
  it('are unknown if reading is forbidden, and an outage of the API server is passed on as such', async () => {
    const forbidden = new KubeFailure({ reason: 'Forbidden', message: 'plans is forbidden' });
    await expect(find(edgeOf({ plansConfigMapRef }), {}, forbidden)).rejects.toThrow(
      new SettingsUnknown('plans is forbidden'),
    );
    const away = new KubeFailure({ reason: 'Unavailable', message: 'it starts' });
    await expect(find(edgeOf({ plansConfigMapRef }), {}, away)).rejects.toBe(away);
  });
});

it('the ingest bucket is that of the ImageService, and unknown if a Secret may name it', async () => {
  const bucketOf = async (found: EdgeFound) => (await find(found)).ingestBucket;
  const storageSecretRef = { name: 'storage' };
  expect(await bucketOf(edgeOf({ storage: { ingestBucket: 'its-own' }, storageSecretRef }))).toBe(
    'its-own',
  );
  expect(await bucketOf(edgeOf({ storageSecretRef: undefined }))).toBe('tintype-ingest');
  expect(await bucketOf(edgeOf({ storageSecretRef }))).toBeUndefined();
  expect(await bucketOf(absent)).toBeUndefined();
});

describe('the upload switches', () => {
  const extraEnv = [
    { name: 'TINTYPE_SVG_UPLOADS', value: 'disabled' },
    { name: 'TINTYPE_INGEST_MAX_BYTES', value: '1000' },
    { name: 'TINTYPE_AVIF_UPLOADS', value: '' },
  ];
  it('come from extraEnv of the ImageService, and otherwise from the operator’s own environment', async () => {
    const env = { TINTYPE_AVIF_UPLOADS: 'disabled', TINTYPE_INGEST_MAX_BYTES: '7' };
    const { uploads } = await find(edgeOf({ extraEnv }), env);
    expect(uploads).toEqual({
      ...{ avifUploads: 'disabled', svgUploads: 'disabled' },
      ...{ mediaLibraryWrites: 'enabled', ingestMaxBytes: 1000 },
    });
    expect((await find(absent, env)).uploads.ingestMaxBytes).toBe(7);
  });
});
