import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { ImageDeps } from '../../operator/cluster/declared-image.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import type { ProcessingErrorCode } from '../../runtime/core/errors.ts';
import { WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import type { Database } from '../../runtime/db/client.ts';
import { updateFileBlocked } from '../../runtime/db/files.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { updateUploadFailed } from '../../runtime/db/upload-processing.ts';
import { useDatabase } from '../support/database.ts';
import { declaredImageDeps } from '../support/declared-image-deps.ts';
import { claimDeclared, ingestDeclared, listUploads } from '../support/declared-uploads.ts';
import { makeFolderBuckets } from '../support/folder-buckets.ts';
import { kubeOk, kubeRelease } from '../support/kube-request.ts';
import { makeFile, makeWatermarkPresets, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const folder = makeFolderBuckets();
afterAll(() => folder.remove());

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const newImage = () => Buffer.concat([PNG, randomBytes(64)]);
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const served = new Map<string, Buffer>();
const asked: string[] = [];

const images: ImageDeps = {
  ...declaredImageDeps(folder.buckets),
  download: async (url) => {
    asked.push(url);
    const bytes = served.get(url);
    return bytes === undefined ? { fault: 'it answered 404' } : { bytes };
  },
};
/** How often the operator read each ConfigMap, by name. */
const readings = new Map<string, number>();

function countingReadings(client: KubeClient): KubeClient {
  return {
    ...client,
    get: (type, place) => {
      const { name } = place;
      if (type.kind === 'ConfigMap') readings.set(name, (readings.get(name) ?? 0) + 1);
      return client.get(type, place);
    },
  };
}

const cluster = useTenantCluster({ db, context: { images }, wrap: countingReadings });
const { apply, condition, led, read, untilReason } = cluster;

const uploads = (name: string) => listUploads(db, name);
const claim = (name: string) => claimDeclared(db, name);
const ingest = (name: string, bytes: Buffer) => ingestDeclared(db, name, bytes);

const fetches = (url: string) => asked.filter((each) => each === url).length;

async function morePasses(): Promise<void> {
  const passes = await cluster.countPasses('WatermarkPreset');
  await until(async () =>
    expect(await cluster.countPasses('WatermarkPreset')).toBeGreaterThan(passes + 3),
  );
}

/**
 * Waits until the operator has tried more than `count` times to read the image of another preset.
 * It looks at presets with images in ConfigMaps repeatedly.
 */
async function steadyPasses(count: number): Promise<void> {
  const name = newSlug();
  const image = { configMapRef: { name, key: 'logo.png' } };
  await apply('Project', name, {});
  await apply('WatermarkPreset', name, { projectRef: { name }, image });
  await until(async () => expect(readings.get(name)).toBeGreaterThan(count));
}

/** Declares a project and a preset of the same name, whose image is at a URL. */
async function declareServed(bytes: Buffer): Promise<{ name: string; url: string }> {
  const name = newSlug();
  const url = `https://shop.example/${name}.png`;
  served.set(url, bytes);
  await apply('Project', name, {});
  const image = { url, sha256: digest(bytes) };
  await apply('WatermarkPreset', name, { projectRef: { name }, image });
  return { name, url };
}

/** Claims the upload of a preset as a worker does, and fails it with this error. */
async function failUpload(name: string, error_code: ProcessingErrorCode): Promise<string> {
  const { upload_id, attempt } = await claim(name);
  await db.transaction((tx) => updateUploadFailed(tx, { upload_id, attempt, error_code }));
  return upload_id;
}

function store(kind: 'configmaps', name: string, bytes: Buffer, other = bytes) {
  const path = `/api/v1/namespaces/${cluster.namespace()}/${kind}`;
  const [logo, another] = [bytes.toString('base64'), other.toString('base64')];
  const body = { metadata: { name }, binaryData: { 'logo.png': logo, 'another.png': another } };
  return kubeOk(cluster.plane(), { method: 'POST', path, body });
}

/** Creates presets of a project as the API does, named `many-1` and so on. */
async function makePresets(name: string, count: number): Promise<void> {
  const project = must(await findProjectBySlug(db, name));
  await makeWatermarkPresets(db, await makeFile(db, project, { file_slug: 'others.png' }), count);
}

/**
 * Declares a project and a preset of the same name, whose image is the first of two in a ConfigMap.
 * Returns a function that builds the preset's spec for either image.
 */
async function declareStored(name: string, bytes: Buffer): Promise<(key: string) => object> {
  const spec = (key: string) => ({ projectRef: { name }, image: { configMapRef: { name, key } } });
  await store('configmaps', name, bytes, newImage());
  await apply('Project', name, {});
  await apply('WatermarkPreset', name, spec('logo.png'));
  return spec;
}

/** The slug of the file that a preset draws; undefined if the preset does not exist. */
async function drawnBy(name: string): Promise<string | undefined> {
  const [drawn] = await db.query<{ file_slug: string }>(
    `select file_slug from watermark_presets join files using (file_id) where owner_name = $1`,
    [name],
  );
  return drawn?.file_slug;
}

/** The reasons of all Events about a preset, sorted. */
async function toldOf(name: string): Promise<string[]> {
  const { uid } = (await read('WatermarkPreset', name)).metadata;
  const reported = (await cluster.events()).filter(({ regarding }) => regarding.uid === uid);
  return reported.map(({ reason }) => reason).toSorted();
}

describe('a watermark preset that declares its own image', () => {
  it('with a URL fetches it once, and accepts no other digest', async () => {
    const [name, bytes] = [newSlug(), newImage()];
    const url = `https://shop.example/${name}.png`;
    const image = { url, sha256: digest(bytes) };
    served.set(url, newImage());
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, { projectRef: { name }, image });
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageDigestMismatch');
      expect(await uploads(name)).toEqual([]);
      served.set(url, bytes);
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      const fetched = fetches(url);
      await morePasses();
      expect(fetches(url)).toBe(fetched);
    });
  });

  it('with a URL of another digest fetches it ever more rarely, and immediately after a change', async () => {
    const [name, steady, bytes] = [newSlug(), newSlug(), newImage()];
    const url = `https://shop.example/${name}.png`;
    const projectRef = { name };
    served.set(url, newImage());
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, { projectRef, image: { url, sha256: digest(bytes) } });
    // The operator reads this image repeatedly, in contrast to the one at the URL.
    const image = { configMapRef: { name: steady, key: 'logo.png' } };
    await apply('WatermarkPreset', steady, { projectRef, image });
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageDigestMismatch');
      await until(async () => expect(readings.get(steady)).toBeGreaterThan(20));
      expect(fetches(url)).toBeLessThan(10);
      const other = `https://shop.example/${name}-other.png`;
      served.set(other, bytes);
      await apply('WatermarkPreset', name, {
        projectRef,
        image: { url: other, sha256: digest(bytes) },
      });
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      expect(fetches(other)).toBe(1);
    });
  });

  it.each([
    // Each case needs a new digest, as a digest that was refused before is not fetched at all.
    ['that is no image', () => Buffer.from(`no image, ${newSlug()}`)],
    ['that the workers refuse', newImage],
  ])('with a URL fetches only once a file %s', async (_, newBytes) => {
    const bytes = newBytes();
    const { name, url } = await declareServed(bytes);
    // The operator looks at this preset repeatedly, so that passes can be counted.
    const steady = newSlug();
    const image = { configMapRef: { name: steady, key: 'logo.png' } };
    await apply('WatermarkPreset', steady, { projectRef: { name }, image });
    await led(async () => {
      if (PNG.equals(bytes.subarray(0, PNG.length))) {
        await failUpload(name, 'image_too_large');
      }
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      await apply('WatermarkPreset', name, {
        projectRef: { name },
        image: { url, sha256: digest(bytes) },
        opacityPercent: 50,
      });
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      await morePasses();
      expect(fetches(url)).toBe(1);
    });
  });

  const suspended = [{ state: 'Suspended' }, { state: 'Active' }] as const;
  const full = [{ staff: { storageHardLimit: '1' } }, { staff: { storageHardLimit: '' } }] as const;
  const whySuspended =
    'the project is suspended and accepts no image: the image is uploaded once the project is active again';
  const whyFull =
    'the project has no storage left for the image: delete some of its files, raise its storage limit or upgrade its plan; the operator tries again by itself';
  it.each([
    ['in the cluster, while its project is suspended', 'ConfigMap', suspended, whySuspended],
    ['at a URL, while its project is suspended', 'URL', suspended, whySuspended],
    ['in the cluster, while its project is full', 'ConfigMap', full, whyFull],
    ['at a URL, while its project is full', 'URL', full, whyFull],
  ] as const)(
    'whose image lies %s, is refused for now, and uploads it afterwards',
    async (_, source, [then, now], why) => {
      const [name, bytes] = [newSlug(), newImage()];
      const url = `https://shop.example/${name}.png`;
      served.set(url, bytes);
      await store('configmaps', name, bytes);
      await apply('Project', name, then);
      const configMapRef = { name, key: 'logo.png' };
      const image = source === 'URL' ? { url, sha256: digest(bytes) } : { configMapRef };
      const reads = () => (source === 'URL' ? fetches(url) : (readings.get(name) ?? 0));
      await apply('WatermarkPreset', name, { projectRef: { name }, image });
      await led(async () => {
        await untilReason('WatermarkPreset', name, 'ImageRefused');
        expect((await condition('WatermarkPreset', name))?.message).toBe(why);
        expect(await condition('WatermarkPreset', name, 'Stalled')).toMatchObject({
          status: 'True',
        });
        await steadyPasses(15);
        expect(reads()).toBeLessThan(then === suspended[0] ? 1 : 8);
        expect(await uploads(name)).toEqual([]);
        await apply('Project', name, now);
        await until(async () => expect(await uploads(name)).toHaveLength(1));
      });
    },
  );

  it('is unaffected by the suspension of its project, but reports an image changed meanwhile', async () => {
    const [name, bytes] = [newSlug(), newImage()];
    const spec = await declareStored(name, bytes);
    await led(async () => {
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      await apply('Project', name, { state: 'Suspended' });
      await untilReason('Project', name, 'Suspended');
      await morePasses();
      await untilReason('WatermarkPreset', name, 'InSync');
      const plan = { annotations: { 'tintype.dev/plan-only': 'true' } };
      await apply('WatermarkPreset', name, spec('another.png'), plan);
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      const planned = await condition('WatermarkPreset', name, 'Planned');
      expect(planned).toMatchObject({ reason: 'NothingToChange' });
      await apply('WatermarkPreset', name, spec('another.png'));
      await until(async () =>
        expect(await condition('WatermarkPreset', name, 'Planned')).toBeUndefined(),
      );
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      expect((await condition('WatermarkPreset', name))?.message).toBe(whySuspended);
    });
  });

  it('whose workers were killed uploads its image again an hour later', async () => {
    const bytes = newImage();
    const { name, url } = await declareServed(bytes);
    await led(async () => {
      const upload_id = await failUpload(name, 'processing_abandoned');
      await until(async () => {
        const { conditions = [] } = (await read('WatermarkPreset', name)).status ?? {};
        expect(conditions.map(({ message }) => message).join()).toContain('tried again within 60');
      });
      await morePasses();
      expect(fetches(url)).toBe(1);
      await db.query(
        `update uploads set updated_at = now() - interval '61 minutes' where upload_id = $1`,
        [upload_id],
      );
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
    });
  });

  it('shows the upload in its plan, and uploads nothing while it is plan-only', async () => {
    const [name, bytes] = [newSlug(), newImage()];
    const spec = { projectRef: { name }, image: { configMapRef: { name, key: 'logo.png' } } };
    const plan = { annotations: { 'tintype.dev/plan-only': 'true' } };
    const planned = () => condition('WatermarkPreset', name, 'Planned');
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, spec, plan);
    await led(async () => {
      await until(async () => expect(await planned()).toMatchObject({ reason: 'Blocked' }));
      await store('configmaps', name, bytes);
      await until(async () =>
        expect(await planned()).toMatchObject({
          reason: 'ChangesPlanned',
          message: expect.stringContaining(
            `+ uploads ${name} { content_type: "image/png", size_bytes: ${bytes.length}, sha256: "${digest(bytes)}" }\n+ watermark_presets ${name} { name: "${name}", file_id: "(the file of the upload)", x_offset: 0, y_offset: 0, opacity: 100, owner_uid: `,
          ),
        }),
      );
      expect(await uploads(name)).toEqual([]);
      await apply('WatermarkPreset', name, spec);
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      expect(await planned()).toBeUndefined();
      await apply('WatermarkPreset', name, spec, plan);
      await until(async () => expect(await planned()).toMatchObject({ reason: 'NothingToChange' }));
    });
  });

  it('plans no upload that would be refused', async () => {
    const [name, bytes] = [newSlug(), Buffer.concat([newImage(), Buffer.alloc(1_000_000)])];
    const url = `https://shop.example/${name}.png`;
    served.set(url, bytes);
    await apply('Project', name, {});
    const spec = { projectRef: { name }, image: { url, sha256: digest(bytes) } };
    const annotations = { 'tintype.dev/plan-only': 'true' };
    await apply('WatermarkPreset', name, spec, { annotations });
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      const planned = await condition('WatermarkPreset', name, 'Planned');
      expect(planned).toMatchObject({ reason: 'NothingToChange' });
    });
  });

  const types =
    'image/jpeg, image/png, image/webp, image/avif, image/gif, image/tiff, image/bmp, image/svg+xml';
  it.each([
    ['of no type', Buffer.from('no image'), `the image is not of an accepted type (${types})`],
    ['too large', Buffer.alloc(1_000_001, PNG), 'the image has more than 1000000 bytes'],
  ])('with an image %s is refused in words that fit a resource', async (_, bytes, why) => {
    const { name } = await declareServed(bytes);
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      const message = (await condition('WatermarkPreset', name))?.message;
      expect(message).toBe(`${why}: declare another one`);
    });
  });

  it('never replaces a file of others, nor uploads an image again that was blocked', async () => {
    const [name, bytes] = [newSlug(), newImage()];
    const spec = { projectRef: { name }, image: { configMapRef: { name, key: 'logo.png' } } };
    await store('configmaps', name, bytes);
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const project = must(await findProjectBySlug(db, name));
      const file = await makeFile(db, project, { file_slug: name });
      await apply('WatermarkPreset', name, spec);
      await untilReason('WatermarkPreset', name, 'FileTaken');
      await db.transaction((tx) =>
        updateFileBlocked(tx, { file_id: file.file_id, blocked_by: 'staff', reason: 'no' }),
      );
      await untilReason('WatermarkPreset', name, 'FileBlocked');
      expect(await uploads(name)).toHaveLength(1);
    });
  });

  it.each([
    ['whose name is taken', { displayName: 'many-1' }, 1, 'NameConflict'],
    ['beyond the limit of presets', {}, WATERMARK_PRESETS_MAX, 'LimitReached'],
  ])('%s uploads its image only once that has changed', async (_, settings, others, reason) => {
    const name = newSlug();
    await store('configmaps', name, newImage());
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await makePresets(name, others);
      const image = { configMapRef: { name, key: 'logo.png' } };
      await apply('WatermarkPreset', name, { projectRef: { name }, image, ...settings });
      await untilReason('WatermarkPreset', name, reason);
      await morePasses();
      expect(await uploads(name)).toEqual([]);
      expect(await findProjectBySlug(db, name)).toMatchObject({ reserved_bytes: 0 });
      await db.query(`delete from watermark_presets where name = 'many-1'`);
      await apply('WatermarkPreset', name, { projectRef: { name }, image });
      await until(async () => expect(await uploads(name)).toHaveLength(1));
    });
  });

  it('uploads no image for a change that is refused, and none to another project', async () => {
    const [name, slug, bytes] = [newSlug(), newSlug(), newImage()];
    const spec = await declareStored(name, bytes);
    await led(async () => {
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
      await makePresets(name, 1);
      await apply('WatermarkPreset', name, { ...spec('another.png'), displayName: 'many-1' });
      await untilReason('WatermarkPreset', name, 'NameConflict');
      await morePasses();
      expect(await uploads(name)).toHaveLength(1);
      await apply('WatermarkPreset', name, spec('logo.png'));
      await untilReason('WatermarkPreset', name, 'InSync');
      await cluster.remove('Project', name);
      await cluster.untilGone('Project', name);
      await apply('Project', name, { slug });
      await untilReason('WatermarkPreset', name, 'ProjectImmutable');
      await morePasses();
      expect(await uploads(name)).toHaveLength(1);
    });
  });

  it.each([
    ['that exists', 'logo.png', 'FileTaken'],
    ['that is missing', 'missing.png', 'ImageNotFound'],
  ])(
    'with an image %s takes no file of others, and keeps drawing what it drew',
    async (_, key, reason) => {
      const [name, late, bytes] = [newSlug(), newSlug(), newImage()];
      const projectRef = { name };
      const spec = (from: string) => ({ projectRef, image: { configMapRef: { name, key: from } } });
      await store('configmaps', name, bytes);
      await apply('Project', name, {});
      await apply('WatermarkPreset', name, spec('logo.png'));
      await led(async () => {
        await ingest(name, bytes);
        await untilReason('WatermarkPreset', name, 'InSync');
        await makeFile(db, must(await findProjectBySlug(db, name)), { file_slug: late });
        await apply('WatermarkPreset', late, spec(key));
        await apply('Project', name, { defaultWatermarkPresetRef: { name: late } });
        await apply('WatermarkPreset', name, { ...spec(key), fileSlug: late });
        for (const each of [name, late]) await untilReason('WatermarkPreset', each, reason);
        await untilReason('Project', name, 'WatermarkPresetNotFound');
        await morePasses();
        expect((await read('WatermarkPreset', late)).status).not.toHaveProperty('presetID');
        expect([await drawnBy(name), await drawnBy(late)]).toEqual([name, undefined]);
      });
    },
  );

  it('takes over the file of a deleted preset, as after a renaming, and of no other one', async () => {
    const [name, other, [first, second]] = [newSlug(), newSlug(), [newImage(), newImage()]];
    const spec = (from: string) => {
      const image = { configMapRef: { name: from, key: 'logo.png' } };
      return { projectRef: { name }, fileSlug: name, image };
    };
    await store('configmaps', name, first);
    await store('configmaps', other, second);
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, spec(name));
    await led(async () => {
      await until(async () => expect(await uploads(name)).toHaveLength(1));
      await ingest(name, first);
      await untilReason('WatermarkPreset', name, 'InSync');
      await apply('WatermarkPreset', other, spec(other));
      await untilReason('WatermarkPreset', other, 'FileTaken');
      await cluster.remove('WatermarkPreset', name);
      await until(async () => expect(await uploads(name)).toHaveLength(2));
      await ingest(name, second);
      await untilReason('WatermarkPreset', other, 'InSync');
    });
  });

  it('leaves the file of a preset of another cluster alone, which is missing here', async () => {
    const [name, other, bytes] = [newSlug(), newSlug(), newImage()];
    const url = `https://shop.example/${name}.png`;
    served.set(url, bytes);
    const image = { url, sha256: digest(bytes) };
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, { projectRef: { name }, fileSlug: name, image });
    await led(async () => {
      await ingest(name, bytes);
      await untilReason('WatermarkPreset', name, 'InSync');
    });
    const { uid } = (await read('WatermarkPreset', name)).metadata;
    await db.query('insert into owners_elsewhere (owner_uid) values ($1)', [uid]);
    await cluster.remove('WatermarkPreset', name);
    await kubeRelease(cluster.plane(), cluster.path('WatermarkPreset', name));
    await store('configmaps', other, newImage());
    const spec = { projectRef: { name }, fileSlug: name };
    const configMapRef = { name: other, key: 'logo.png' };
    await apply('WatermarkPreset', other, { ...spec, image: { configMapRef } });
    await led(async () => {
      await untilReason('WatermarkPreset', other, 'FileTaken');
      await morePasses();
      expect(await uploads(name)).toHaveLength(1);
      await db.query('delete from owners_elsewhere where owner_uid = $1', [uid]);
      await until(async () => expect(await uploads(name)).toHaveLength(2));
    });
  });

  it('continues with its file after its project moved to another namespace', async () => {
    const [name, from, to] = [newSlug(), newImage(), newImage()];
    const namespace = cluster.other();
    const spec = (bytes: Buffer) => {
      const url = `https://shop.example/${digest(bytes)}.png`;
      served.set(url, bytes);
      return { projectRef: { name }, fileSlug: name, image: { url, sha256: digest(bytes) } };
    };
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, spec(from));
    await led(async () => {
      await ingest(name, from);
      await untilReason('WatermarkPreset', name, 'InSync');
      const { organization_id: organizationId } = must(await findProjectBySlug(db, name));
      for (const kind of ['Project', 'WatermarkPreset']) await cluster.remove(kind, name);
      await cluster.untilGone('Project', name);
      const moved = { adoptionPolicy: 'IfUnowned', staff: { organizationId } };
      await apply('Project', name, moved, { namespace });
      await apply('WatermarkPreset', name, spec(to), { namespace });
      await until(async () => expect(await uploads(name)).toHaveLength(2));
      await ingest(name, to);
      await untilReason('WatermarkPreset', name, 'InSync', namespace);
    });
  });

  it.each([
    'https://10.0.0.1/logo.png',
    'https://[::1]/logo.png',
    'https://169.254.169.254/logo.png',
    'https://2130706433/logo.png',
  ])('with the URL %s is refused, and nothing is fetched', async (url) => {
    const name = newSlug();
    await apply('Project', name, {});
    const image = { url, sha256: digest(PNG) };
    await apply('WatermarkPreset', name, { projectRef: { name }, image });
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'SpecInvalid');
      expect((await condition('WatermarkPreset', name))?.message).toBe(
        '`spec.image.url`: an https URL of a public host, at port 443 or 8443, without user name or password',
      );
      const status = async (type: string) =>
        (await condition('WatermarkPreset', name, type))?.status;
      expect([await status('Stalled'), await status('Reconciling')]).toEqual(['True', 'False']);
      expect(fetches(url)).toBe(0);
    });
  });

  it('whose project appears during a pass reports a missing project and image, never a missing file', async () => {
    const name = newSlug();
    await apply('Project', name, {});
    await led(() => untilReason('Project', name, 'InSync'));
    // Paused, so that no other pass queries its row.
    await apply('Project', name, {}, { annotations: { 'tintype.dev/paused': 'true' } });
    const { uid } = (await read('Project', name)).metadata;
    const image = { configMapRef: { name, key: 'logo.png' } };
    await apply('WatermarkPreset', name, { projectRef: { name }, image });
    let isLate = true;
    const query: Database['query'] = async (text, values) => {
      if (!isLate || values?.length !== 1 || values[0] !== uid) return db.query(text, values);
      isLate = false;
      return [];
    };
    const reasons = ['ImageNotFound', 'ProjectNotFound'];
    const reported = () => until(async () => expect(await toldOf(name)).toEqual(reasons));
    await led(reported, { through: { ...db, query } });
  });

  it('reports a missing key of its source, and content that is no image', async () => {
    const name = newSlug();
    const spec = (key: string) => {
      return { projectRef: { name }, image: { configMapRef: { name, key } } };
    };
    await store('configmaps', name, Buffer.from('no image'));
    await apply('Project', name, {});
    await apply('WatermarkPreset', name, spec('other.png'));
    await led(async () => {
      await untilReason('WatermarkPreset', name, 'ImageNotFound');
      expect((await condition('WatermarkPreset', name))?.message).toBe(
        `the ConfigMap '${name}' has no key 'other.png'`,
      );
      await apply('WatermarkPreset', name, spec('logo.png'));
      await untilReason('WatermarkPreset', name, 'ImageRefused');
      expect((await read('WatermarkPreset', name)).metadata.finalizers).toBeUndefined();
    });
  });
});
