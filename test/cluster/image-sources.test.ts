/**
 * Images in ConfigMaps and Secrets, which the operator does not watch: it looks at presets with such images more often
 * than the resync interval, which is long in this test.
 */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { declaredImageDeps } from '../support/declared-image-deps.ts';
import { ingestDeclared, listUploads } from '../support/declared-uploads.ts';
import { makeFolderBuckets } from '../support/folder-buckets.ts';
import { kubeOk } from '../support/kube-request.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const folder = makeFolderBuckets();
afterAll(() => folder.remove());

const download = async () => ({ fault: 'nothing is downloaded here' });
const cluster = useTenantCluster({
  db,
  context: { images: { ...declaredImageDeps(folder.buckets), download } },
  often: { resync_ms: 3_600_000, source_ms: 300 },
});
const { apply, led, untilReason } = cluster;

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const newImage = () => Buffer.concat([PNG, randomBytes(64)]);
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const uploads = (name: string) => listUploads(db, name);
const ingest = (name: string, bytes: Buffer) => ingestDeclared(db, name, bytes);

function store(kind: 'configmaps' | 'secrets', name: string, bytes: Buffer) {
  const field = kind === 'secrets' ? 'data' : 'binaryData';
  const path = `/api/v1/namespaces/${cluster.namespace()}/${kind}`;
  const body = { metadata: { name }, [field]: { 'logo.png': bytes.toString('base64') } };
  return kubeOk(cluster.plane(), { method: 'POST', path, body });
}

/** The Event about a preset may be written after its status. */
function untilNothingIsWritten(): Promise<void> {
  return until(async () => {
    const writes = await cluster.countWrites();
    const passes = await cluster.countPasses('WatermarkPreset');
    await until(async () =>
      expect(await cluster.countPasses('WatermarkPreset')).toBeGreaterThan(passes + 3),
    );
    expect(await cluster.countWrites()).toBe(writes);
  });
}

it.each([
  ['ConfigMap', 'configmaps', 'configMapRef'],
  ['Secret', 'secrets', 'secretRef'],
] as const)(
  'a preset with an image from a %s uploads it once, and again when it changes',
  async (_, kind, field) => {
    const [name, bytes, other] = [newSlug(), newImage(), newImage()];
    const spec = { projectRef: { name }, image: { [field]: { name, key: 'logo.png' } } };
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, spec);
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageNotFound');
      await store(kind, name, bytes);
      await untilReason('WatermarkPreset', name, 'ImageUploading');
      const [upload] = await uploads(name);
      expect(upload?.sha256).toBe(digest(bytes));
      expect(await folder.buckets.ingest.read(must(upload).ingest_key)).toEqual(bytes);
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      await untilNothingIsWritten();
      expect(await uploads(name)).toHaveLength(1);
      const path = `/api/v1/namespaces/${cluster.namespace()}/${kind}/${name}`;
      await kubeOk(cluster.plane(), { method: 'DELETE', path });
      await store(kind, name, other);
      await ingest(name, other);
      await untilReason('WatermarkPreset', name, 'InSync');
      expect(await uploads(name)).toHaveLength(2);
    });
  },
);
