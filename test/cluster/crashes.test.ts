import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TenantKind } from '../../operator/cluster/tenant-object.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { callbackSecretContext } from '../../runtime/platform/sealing-contexts.ts';
import { crashEverywhere } from '../support/crash-everywhere.ts';
import type { CrashingOperator } from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { makeFile, must } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { createTenantOperator } from '../support/tenant-looks.ts';
import { declareAt, liveAt, type Place, pathOf } from '../support/tenant-places.ts';

const { db } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

const kinds = ['Project', 'SigningKey', 'WatermarkPreset', 'Recipe'] as const;

/** The first and the second specs of the four kinds. */
function specs(name: string, times: 1 | 2): Record<TenantKind, object> {
  const projectRef = { name };
  const rotationTrigger = String(times);
  return {
    Project: {
      displayName: `Shop ${times}`,
      callback: {
        url: 'https://shop.example/hook',
        secretName: `${name}-${times}`,
        rotationTrigger,
      },
      defaultWatermarkPresetRef: { name },
      staff: { customDomains: [`${times}.${name}.example`], pricingMultiplier: `${times}.5` },
    },
    SigningKey: { projectRef, rotationTrigger },
    WatermarkPreset: { projectRef, fileSlug: 'logo.png', xOffset: times },
    Recipe: { projectRef, transformChain: `resize/${times}00x` },
  };
}

const declare = (place: Place, times: 1 | 2) => declareAt(plane(), place, specs(place.name, times));

function operatorOf(place: Place): CrashingOperator {
  const resources = kinds.map((kind) => ({ kind, path: pathOf(kind, place) }));
  return createTenantOperator({ plane: plane(), db, sealing, resources });
}

/** Uses a new namespace, so that its organization is created as well. */
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
  for (const kind of kinds) await kubeOk(plane(), { method: 'DELETE', path: pathOf(kind, place) });
  return place;
}

const scenarios = ['declared', 'changed', 'deleted'] as const;
type Scenario = (typeof scenarios)[number];

/** The final state, with names replaced so that the states of all places are comparable. */
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
    // A price replaces the last one of the same hour, but a run may last into the next hour.
    price: await rows(
      'select multiplier from project_pricing where project_id = $1 order by effective_from desc limit 1',
    ),
    recipes: await rows('select name, transform_chain from recipes where project_id = $1'),
    presets: await rows('select name, x_offset from watermark_presets where project_id = $1'),
    audited: await rows(
      `select action, after->'changes' as changes from audit_log where project_id = $1 order by action, (after->'changes')::text`,
    ),
    live: await Promise.all(kinds.map((kind) => liveAt(plane(), kind, place))),
    secrets: await secretsOf(place, project_id),
  });
  return JSON.parse(text.replaceAll(name, 'NAME'));
}

/** The Secrets of the namespace, and whether each one holds the key in the row. */
async function secretsOf({ namespace }: Place, project_id: string): Promise<unknown> {
  const { items } = (await kubeOk(plane(), {
    path: `/api/v1/namespaces/${namespace}/secrets`,
  })) as unknown as { items: { metadata: { name: string }; data: { secret?: string } }[] };
  const [row] = await db.query<{ callback_secret_sealed: Buffer | null }>(
    'select callback_secret_sealed from projects where project_id = $1',
    [project_id],
  );
  const sealed = row?.callback_secret_sealed;
  const kept = sealed && sealing.open(sealed, callbackSecretContext(project_id)).toString();
  return items.map(({ metadata: { name }, data: { secret = '' } }) => {
    return { name, isTold: Buffer.from(secret, 'base64').toString() === kept };
  });
}

describe.each(scenarios)(
  'an operator that crashes at any write of resources that were %s',
  (scenario) => {
    it('ends with the same rows, resources and audit entries when it starts again', async () => {
      const { writes } = await crashEverywhere({
        begin: () => begin(scenario),
        operatorOf,
        outcome,
      });
      expect(writes.length).toBeGreaterThan(5);
    }, 300_000);
  },
);
