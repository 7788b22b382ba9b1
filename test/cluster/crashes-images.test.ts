import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { ImageDeps } from '../../operator/cluster/declared-image.ts';
import { claimUpload } from '../../runtime/db/claim-upload.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { crashEverywhere } from '../support/crash-everywhere.ts';
import type { CrashingOperator, Step } from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { declaredImageDeps } from '../support/declared-image-deps.ts';
import { makeFolderBuckets } from '../support/folder-buckets.ts';
import { kubeOk } from '../support/kube-request.ts';
import { must, publish } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { createTenantOperator } from '../support/tenant-looks.ts';
import { declareAt, liveAt, type Place, pathOf } from '../support/tenant-places.ts';

const { db } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);
const folder = makeFolderBuckets();
afterAll(() => folder.remove());

const { ingest } = folder.buckets;

/** Counts writes to storage as steps, like all other writes. */
function imagesOf(step: Step): ImageDeps {
  const write: typeof ingest.write = (...args) =>
    step('write ingest object', () => ingest.write(...args));
  return {
    ...declaredImageDeps({ ...folder.buckets, ingest: { ...ingest, write } }),
    download: async () => ({ fault: 'nobody asks for a URL' }),
  };
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const holders = {
  ConfigMap: { plural: 'configmaps', field: 'binaryData', bytes: PNG },
  Secret: { plural: 'secrets', field: 'data', bytes: Buffer.concat([PNG, PNG]) },
} as const;

function store(kind: keyof typeof holders, { namespace, name }: Place) {
  const { plural, field, bytes } = holders[kind];
  const body = { metadata: { name }, [field]: { 'logo.png': bytes.toString('base64') } };
  const path = `/api/v1/namespaces/${namespace}/${plural}`;
  return kubeOk(plane(), { method: 'POST', path, body });
}

const kinds = ['Project', 'WatermarkPreset'] as const;

function declare(place: Place, source: 'configMapRef' | 'secretRef') {
  const { name } = place;
  const image = { [source]: { name, key: 'logo.png' } };
  return declareAt(plane(), place, {
    Project: {},
    WatermarkPreset: { projectRef: { name }, image },
  });
}

function operatorOf(place: Place): CrashingOperator {
  const resources = kinds.map((kind) => ({ kind, path: pathOf(kind, place) }));
  const options = { plane: plane(), db, sealing, resources };
  return createTenantOperator({ ...options, images: imagesOf, others: () => work(place) });
}

/** Processes arrived uploads as a worker does. */
async function work({ name }: Place): Promise<void> {
  const arrived = await db.query<{ upload_id: string }>(
    `select upload_id from uploads where file_slug = $1 and status = 'uploaded'`,
    [name],
  );
  for (const { upload_id } of arrived) {
    const upload = must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
    const bytes = must(await ingest.read(upload.ingest_key));
    const source_sha256 = createHash('sha256').update(bytes).digest('hex');
    await publish(db, upload, { source_sha256 });
    await ingest.delete(upload.ingest_key);
  }
}

const scenarios = ['declared', 'changed', 'deleted'] as const;
type Scenario = (typeof scenarios)[number];

async function begin(scenario: Scenario): Promise<Place> {
  const place = {
    namespace: await cluster.namespace(),
    name: `p${randomBytes(6).toString('hex')}`,
  };
  await store('ConfigMap', place);
  await declare(place, 'configMapRef');
  if (scenario === 'declared') return place;
  await operatorOf(place).run();
  if (scenario === 'changed') {
    await store('Secret', place);
    await declare(place, 'secretRef');
    return place;
  }
  await kubeOk(plane(), { method: 'DELETE', path: pathOf('WatermarkPreset', place) });
  return place;
}

/** The final state, with names replaced so that the states of all places are comparable. */
async function outcome(place: Place): Promise<unknown> {
  const { name } = place;
  const [project] = await db.query<{ project_id: string }>(
    'select project_id, storage_bytes, reserved_bytes from projects where project_slug = $1',
    [name],
  );
  const { project_id, ...room } = must(project);
  const rows = async (query: string) => db.query(query, [project_id]);
  const text = JSON.stringify({
    room,
    uploads: await rows(
      `select u.status, sha256, revision, owner_name from uploads u
       left join declared_uploads using (upload_id) where project_id = $1 order by u.created_at`,
    ),
    files: await rows(
      'select file_slug, status, revision from files where project_id = $1 order by file_slug',
    ),
    presets: await rows('select name, owner_name from watermark_presets where project_id = $1'),
    purges: await rows('select reason from purges where project_id = $1 order by reason'),
    audited: await rows(
      `select action, after->'changes' as changes from audit_log where project_id = $1 order by action, (after->'changes')::text`,
    ),
    waiting: await ingest.list({ prefix: `${project_id}/`, limit: 10 }),
    live: await Promise.all(kinds.map((kind) => liveAt(plane(), kind, place))),
  });
  return JSON.parse(text.replaceAll(name, 'NAME'));
}

describe.each(scenarios)(
  'an operator that crashes at any write of an image that was %s',
  (scenario) => {
    it('uploads each image once, and leaves nothing of another try', async () => {
      const { writes, outcome: found } = await crashEverywhere({
        ...{ begin: () => begin(scenario), operatorOf, outcome },
      });
      const { uploads, waiting } = found as { uploads: object[]; waiting: object[] };
      expect(writes.includes('write ingest object')).toBe(scenario !== 'deleted');
      expect([uploads.length, waiting]).toEqual([scenario === 'changed' ? 2 : 1, []]);
    }, 300_000);
  },
);
