import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { callbackSecretContext } from '../../runtime/platform/sealing-contexts.ts';
import {
  type CrashingOperator,
  type CrashPoint,
  createCrashingOperator,
} from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { makeFile, must } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const { db } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

/** Each run has a namespace of its own, so that its organization is made in it too. */
type Place = { namespace: string; name: string };

const plurals = {
  ...{ Project: 'projects', SigningKey: 'signingkeys' },
  ...{ WatermarkPreset: 'watermarkpresets', Recipe: 'recipes' },
} as const;
type Kind = keyof typeof plurals;
const kinds = ['Project', 'SigningKey', 'WatermarkPreset', 'Recipe'] as const;

function path(kind: Kind, { namespace, name }: Place): string {
  return `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}/${name}`;
}

/** What the four kinds declare, first and later. */
function specs(name: string, times: 1 | 2): Record<Kind, object> {
  const projectRef = { name };
  const rotationTrigger = String(times);
  return {
    Project: {
      displayName: `Shop ${times}`,
      callback: { url: 'https://shop.example/hook', secretName: name, rotationTrigger },
      defaultWatermarkPresetRef: { name },
      staff: { customDomains: [`${times}.${name}.example`], pricingMultiplier: `${times}.5` },
    },
    SigningKey: { projectRef, rotationTrigger },
    WatermarkPreset: { projectRef, fileSlug: 'logo.png', xOffset: times },
    Recipe: { projectRef, transformChain: `resize/${times}00x` },
  };
}

async function declare(place: Place, times: 1 | 2): Promise<void> {
  const spec = specs(place.name, times);
  for (const kind of kinds) {
    const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: place };
    await kubeApply(plane(), path(kind, place), { ...head, spec: spec[kind] });
  }
}

function operatorOf(place: Place): CrashingOperator {
  const resources = kinds.map((kind) => ({ kind, path: path(kind, place) }));
  return createCrashingOperator({ plane: plane(), db, sealing, resources });
}

/** Up to the state that the scenario begins in. */
async function begin(scenario: Scenario): Promise<Place> {
  const place = {
    namespace: await cluster.namespace(),
    name: `p${randomBytes(6).toString('hex')}`,
  };
  await declare(place, 1);
  if (scenario === 'declared') return place;
  await operatorOf(place).run();
  await makeFile(db, must(await findProjectBySlug(db, place.name)), { file_slug: 'logo.png' });
  await operatorOf(place).run();
  if (scenario === 'changed') {
    await declare(place, 2);
    return place;
  }
  for (const kind of kinds) await kubeOk(plane(), { method: 'DELETE', path: path(kind, place) });
  return place;
}

const scenarios = ['declared', 'changed', 'deleted'] as const;
type Scenario = (typeof scenarios)[number];

/** All that is left in the end, in words that are the same for every name. */
async function outcome(place: Place): Promise<unknown> {
  const { name } = place;
  const [project] = await db.query<{ project_id: string }>(
    `select project_id, name, status, suspended_by, callback_url, callback_rotation_trigger,
       owner_uid is not null as is_owned, owner_name, default_watermark_preset_id is not null as has_default
     from projects where project_slug = $1`,
    [name],
  );
  const { project_id, ...row } = must(project);
  const rows = async (query: string) => db.query(query, [project_id]);
  const text = JSON.stringify({
    row,
    keys: await rows(
      'select status, rotation_trigger, owner_name from signing_keys where project_id = $1 order by created_at, kid',
    ),
    domains: await rows('select domain from project_domains where project_id = $1'),
    prices: await rows(
      'select multiplier from project_pricing where project_id = $1 order by effective_from, multiplier',
    ),
    recipes: await rows('select name, transform_chain from recipes where project_id = $1'),
    presets: await rows('select name, x_offset from watermark_presets where project_id = $1'),
    audited: await rows(
      `select action, after->'changes' as changes from audit_log where project_id = $1 order by action, (after->'changes')::text`,
    ),
    live: await Promise.all(kinds.map((kind) => live(kind, place))),
    secret: await secretOf(place, project_id),
  });
  return JSON.parse(text.replaceAll(name, 'NAME'));
}

async function live(kind: Kind, place: Place): Promise<unknown> {
  const { status, body } = await kubeRequest(plane(), { path: path(kind, place) });
  if (status === 404) return 'gone';
  const { metadata, status: said } = body as {
    metadata: { finalizers?: string[] };
    status: { conditions: { type: string; status: string; reason: string }[] };
  };
  const conditions = said.conditions.map((each) => `${each.type} ${each.status} ${each.reason}`);
  return { finalizers: metadata.finalizers, conditions };
}

/** Whether the Secret holds what the row holds. */
async function secretOf({ namespace, name }: Place, project_id: string): Promise<string> {
  const secret = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const { status, body } = await kubeRequest(plane(), { path: secret });
  const [row] = await db.query<{ callback_secret_sealed: Buffer | null }>(
    'select callback_secret_sealed from projects where project_id = $1',
    [project_id],
  );
  if (status !== 200) return 'none';
  const { secret: told = '' } = (body as { data: { secret?: string } }).data;
  const sealed = row?.callback_secret_sealed;
  if (sealed == null) return 'of nothing';
  const kept = sealing.open(sealed, callbackSecretContext(project_id)).toString();
  return Buffer.from(told, 'base64').toString() === kept ? 'told' : 'wrong';
}

describe.each(scenarios)('an operator that ends at any write of what was %s', (scenario) => {
  it('comes to the same rows, the same resources and the same trail when it starts again', async () => {
    const clean = await begin(scenario);
    const writes = await operatorOf(clean).run();
    const expected = await outcome(clean);
    expect(writes.length).toBeGreaterThan(5);
    // A second look at everything writes nothing.
    expect(await operatorOf(clean).run()).toEqual([]);
    const points = writes.flatMap((_, write): CrashPoint[] => [
      { write, side: 'before' },
      { write, side: 'after' },
    ]);
    for (let done = 0; done < points.length; done += AT_ONCE) {
      const some = points.slice(done, done + AT_ONCE);
      await Promise.all(some.map((point) => crash(scenario, point, expected)));
    }
  }, 300_000);
});

/** Names and namespaces of their own keep them apart. */
const AT_ONCE = 6;

async function crash(scenario: Scenario, point: CrashPoint, expected: unknown): Promise<void> {
  const place = await begin(scenario);
  const done = await operatorOf(place).run(point);
  expect(done).toHaveLength(point.write + 1);
  await operatorOf(place).run();
  expect({ point, done, again: await operatorOf(place).run() }).toEqual({ point, done, again: [] });
  expect({ point, done, outcome: await outcome(place) }).toEqual({
    point,
    done,
    outcome: expected,
  });
}
