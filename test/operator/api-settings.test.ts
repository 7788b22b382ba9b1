// The operator takes the place of the API where it gives a trial or uploads an image: by the same plans and switches.
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

/** With this in the ConfigMap of plans in the namespace of the ImageService. */
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

describe('the plans', () => {
  it('are those of the ImageService', async () => {
    const { plans } = await find(edgeOf({ plansConfigMapRef }));
    expect(plans).toMatchObject({ trial: { credits: 5, storage_bytes: 9 } });
  });
  it('are read as a pod reads them where `kubectl create configmap` found letters of another encoding', async () => {
    const latin1 = Buffer.from(`# für alle\n${trial(5)}`, 'latin1');
    const held = { binaryData: { 'plans.yaml': latin1.toString('base64') } };
    const { plans } = await find(edgeOf({ plansConfigMapRef }), {}, held);
    expect(plans.trial.credits).toBe(5);
  });
  it('are the usual ones where it names none, or is not there', async () => {
    expect((await find(edgeOf())).plans).toEqual(defaultPlans);
    expect((await find(absent)).plans).toEqual(defaultPlans);
  });
  it('are the operator’s own where it was given a file', async () => {
    const env = { TINTYPE_PLANS: join(folder, 'plans.yaml') };
    expect((await find(edgeOf({ plansConfigMapRef }), env)).plans.trial.credits).toBe(2);
  });
  it('are not guessed where they cannot be read', async () => {
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
  it('are no refusal of the resource that needs them where the operator may not read them', async () => {
    const forbidden = new KubeFailure({ reason: 'Forbidden', message: 'plans is forbidden' });
    await expect(find(edgeOf({ plansConfigMapRef }), {}, forbidden)).rejects.toThrow(
      new SettingsUnknown('plans is forbidden'),
    );
    const away = new KubeFailure({ reason: 'Unavailable', message: 'it starts' });
    await expect(find(edgeOf({ plansConfigMapRef }), {}, away)).rejects.toBe(away);
  });
});

it('the bucket of uploads is that of the ImageService, and unknown where a Secret may name it', async () => {
  const bucketOf = async (found: EdgeFound) => (await find(found)).ingestBucket;
  const storageSecretRef = { name: 'storage' };
  expect(await bucketOf(edgeOf({ storage: { ingestBucket: 'its-own' }, storageSecretRef }))).toBe(
    'its-own',
  );
  expect(await bucketOf(edgeOf({ storageSecretRef: undefined }))).toBe('tintype-ingest');
  expect(await bucketOf(edgeOf({ storageSecretRef }))).toBeUndefined();
  expect(await bucketOf(absent)).toBeUndefined();
});

describe('the switches of uploads', () => {
  const extraEnv = [
    { name: 'TINTYPE_SVG_UPLOADS', value: 'disabled' },
    { name: 'TINTYPE_INGEST_MAX_BYTES', value: '1000' },
    { name: 'TINTYPE_AVIF_UPLOADS', value: '' },
  ];
  it('are those of the ImageService, and where it says nothing the operator’s own', async () => {
    const env = { TINTYPE_AVIF_UPLOADS: 'disabled', TINTYPE_INGEST_MAX_BYTES: '7' };
    const { uploads } = await find(edgeOf({ extraEnv }), env);
    expect(uploads).toEqual({
      ...{ avifUploads: 'disabled', svgUploads: 'disabled' },
      ...{ mediaLibraryWrites: 'enabled', ingestMaxBytes: 1000 },
    });
    expect((await find(absent, env)).uploads.ingestMaxBytes).toBe(7);
  });
});
