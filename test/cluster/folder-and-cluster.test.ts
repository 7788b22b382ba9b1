import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { TenantKind } from '../../operator/cluster/tenant-object.ts';
import { reconcileFolder } from '../../operator/files/reconcile-folder.ts';
import type { Database } from '../../runtime/db/client.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeRequest } from '../support/kube-request.ts';
import { makeFile, makeOrganization, must } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { createTenantOperator } from '../support/tenant-looks.ts';
import { pathOf } from '../support/tenant-places.ts';

const folderDatabase = useDatabase();
const clusterDatabase = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

type Document = { kind: TenantKind; metadata: { name: string }; spec: object };

let namespace: string;
beforeAll(async () => {
  namespace = await cluster.namespace();
});

const path = ({ kind, metadata }: Document) => pathOf(kind, { namespace, name: metadata.name });

/** The samples that the project ships. */
async function readSamples(): Promise<Document[]> {
  const names = ['project', 'signing-key', 'watermark-preset', 'recipe'];
  const texts = await Promise.all(
    names.map((name) => readFile(join('config/samples', `${name}.yaml`), 'utf8')),
  );
  return texts
    .flatMap((text) => parseAllDocuments(text).map((each): Document => each.toJS()))
    .map((each) => ({ ...each, metadata: { name: each.metadata.name } }));
}

const fullProject = {
  ...{ displayName: 'Full', deliveryAccess: 'Protected', state: 'Active' },
  corsAllowedOrigins: ['https://shop.example'],
  resolutionPresets: [{ name: 'thumb', chain: 'resize/200x200/smart' }],
  ...{ warmPresets: ['thumb'], allowedTransformChains: ['resize/640x480'] },
  ...{ rawDownload: 'Enabled', defaultWatermarkPresetRef: { name: 'full' } },
  staff: {
    ...{ customDomains: ['img.full.example'], storageHardLimit: '1Gi' },
    ...{ pricingMultiplier: '1.5', nudityAutoBlock: 'Enabled' },
  },
};

function full(spec: {
  project?: object;
  key?: object;
  preset?: object;
  recipe?: object;
}): Document[] {
  const metadata = { name: 'full' };
  const projectRef = { name: 'full' };
  return [
    { kind: 'Project', metadata, spec: { ...fullProject, ...spec.project } },
    { kind: 'SigningKey', metadata, spec: { projectRef, rotationTrigger: '1', ...spec.key } },
    {
      kind: 'WatermarkPreset',
      metadata,
      spec: { projectRef, fileSlug: 'logo.png', ...spec.preset },
    },
    {
      kind: 'Recipe',
      metadata,
      spec: { projectRef, transformChain: 'resize/9x9', ...spec.recipe },
    },
  ];
}

const apiVersion = 'tintype.dev/v1alpha1';

async function throughFolder(documents: readonly Document[]): Promise<void> {
  const { db } = folderDatabase;
  const [known] = await db.query<{ organization_id: string }>(
    'select * from organizations limit 1',
  );
  const { organization_id } = known ?? (await makeOrganization(db));
  const folder = await mkdtemp(join(tmpdir(), 'tintype-samples-'));
  try {
    for (const [at, each] of documents.entries())
      await writeFile(join(folder, `${at}.yaml`), stringify({ apiVersion, ...each }));
    const { faults } = await reconcileFolder(folder, {
      ...{ db, sealing, organization_id, clock: systemClock },
      ...{ delivery_root_domain: undefined, writeSecret: async () => undefined },
      removeSecrets: async () => undefined,
    });
    expect(faults).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const seen = new Map<string, Document>();

async function throughCluster(documents: readonly Document[]): Promise<void> {
  const wanted = new Set(documents.map(path));
  for (const each of documents) {
    seen.set(path(each), each);
    const metadata = { ...each.metadata, namespace };
    await kubeApply(plane(), path(each), { apiVersion, ...each, metadata });
  }
  for (const [at] of seen) {
    if (!wanted.has(at)) await kubeRequest(plane(), { method: 'DELETE', path: at });
  }
  const resources = [...seen].map(([at, { kind }]) => ({ kind, path: at }));
  const { db } = clusterDatabase;
  await createTenantOperator({ plane: plane(), db, sealing, resources }).run();
}

/**
 * All declared rows, without IDs, times and secrets. Leaves out the updates by which a resource in
 * a cluster takes over the row of its namesake, because in a folder it is still the same resource,
 * and the organization, which exists before the folder is read.
 */
async function rowsOf(db: Database): Promise<unknown> {
  const tables = {
    projects: `select project_slug, name, delivery_access, status, suspended_by, cors_allowed_origins,
      resolution_presets, allowed_transform_chains, warm_presets, raw_download_enabled, nudity_auto_block,
      storage_hard_limit_bytes, default_watermark_preset_id is not null as has_default, owner_name,
      owner_uid is not null as is_owned, owner_deletion_policy from projects order by 1`,
    keys: `select k.status, k.rotation_trigger, k.owner_name from signing_keys k
      join projects using (project_id) order by project_slug, k.created_at, kid`,
    domains: 'select domain from project_domains order by 1',
    // Only the newest price: if the hour changes during the test, there is one more.
    prices: `select multiplier from (
      select distinct on (project_id) * from project_pricing order by project_id, effective_from desc
    ) last order by 1`,
    presets: `select name, x_offset, y_offset, opacity, owner_name from watermark_presets order by 1`,
    recipes: `select name, transform_chain, schema_version, owner_name from recipes order by 1`,
    trail: `select action, after->'changes' as changes from audit_log
      where actor_kind = 'operator' and project_id is not null
        and not (after->'changes' = '["update"]' and coalesce(after->'rows'->0 ? 'owner_uid', false))
      order by action, (after->'changes')::text`,
  };
  const rows: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(tables)) rows[name] = await db.query(query);
  return rows;
}

async function bringFiles(): Promise<void> {
  for (const { db } of [folderDatabase, clusterDatabase]) {
    await makeFile(db, must(await findProjectBySlug(db, 'full')), { file_slug: 'logo.png' });
  }
}

it('a folder and a cluster that declare the same have the same rows after every change', async () => {
  const samples = await readSamples();
  const steps: [string, readonly Document[]][] = [
    ['samples', samples],
    ['all kinds, every field', [...samples, ...full({})]],
    ['their files', [...samples, ...full({})]],
    [
      'changes',
      full({
        project: {
          displayName: 'Other',
          staff: { customDomains: ['other.full.example'], pricingMultiplier: '2' },
        },
        key: { rotationTrigger: '2' },
        preset: { xOffset: -5, opacityPercent: 20 },
        recipe: { transformChain: 'resize/8x8', displayName: 'hero' },
      }),
    ],
    ['suspension', full({ project: { state: 'Suspended', deletionPolicy: 'Retain' } })],
    ['parts', full({}).filter(({ kind }) => kind === 'Project' || kind === 'WatermarkPreset')],
    ['nothing', []],
    ['again', full({})],
  ];
  for (const [step, documents] of steps) {
    if (step === 'their files') await bringFiles();
    await throughFolder(documents);
    await throughCluster(documents);
    expect({ step, rows: await rowsOf(clusterDatabase.db) }).toEqual({
      step,
      rows: await rowsOf(folderDatabase.db),
    });
  }
}, 300_000);
