/** Creates projects with files and keys for a delivery server. */
import { createHash } from 'node:crypto';
import { newId } from '../../runtime/core/ids.ts';
import type { StoredType } from '../../runtime/core/image/formats.ts';
import { signDeliveryUrl } from '../../runtime/core/signing/delivery-url.ts';
import type { Database } from '../../runtime/db/client.ts';
import type { NewRevision } from '../../runtime/db/file-revisions.ts';
import type { FileRow } from '../../runtime/db/files.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { insertSigningKey, rotateSigningKey } from '../../runtime/db/signing-keys.ts';
import { upsertWatermarkPreset } from '../../runtime/db/watermark-presets.ts';
import { signingKeyContext } from '../../runtime/platform/sealing-contexts.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { sealing } from './delivery-host.ts';
import { id, makeProcessing, must, publish } from './rows.ts';

export type StoredImage = {
  bytes: Buffer;
  width: number;
  height: number;
  content_type: StoredType;
};
type At = { db: Database; content: Bucket };

/** Publishes a file and stores its bytes in the content bucket. */
export async function publishImage(
  { db, content }: At,
  project: Pick<ProjectRow, 'project_id'>,
  {
    image,
    file_slug,
    ...settings
  }: { image: StoredImage; file_slug: string } & Partial<NewRevision>,
): Promise<FileRow> {
  const { bytes, width, height, content_type } = image;
  const upload = await makeProcessing(db, project, { file_slug });
  const object_key = `${project.project_id}/${upload.upload_id}/master`;
  await content.write(object_key, bytes, { content_type });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return publish(db, upload, {
    object_key,
    content_type,
    size_bytes: bytes.length,
    sha256,
    width,
    height,
    mezzanines: [],
    ...settings,
  });
}

export type TestKey = { kid: string; secret: Buffer };

export async function makeKey(
  db: Database,
  { project_id }: Pick<ProjectRow, 'project_id'>,
  rotating?: { overlap_seconds: number },
): Promise<TestKey> {
  const kid = newId('kid', Date.now());
  const secret = createHash('sha256').update(kid).digest();
  const key = { kid, project_id, secret_sealed: sealing.seal(secret, signingKeyContext(kid)) };
  await db.transaction((tx) =>
    rotating ? rotateSigningKey(tx, { ...key, ...rotating }) : insertSigningKey(tx, key),
  );
  return { kid, secret };
}

/** Returns the path with the query of a signed URL. */
export function signed(
  path: string,
  of: { project: Pick<ProjectRow, 'project_id'>; key: TestKey; exp: number },
): string {
  const { kid, secret } = of.key;
  const { project_id } = of.project;
  const sig = signDeliveryUrl({ secret, project_id, kid, exp: of.exp, path });
  return `${path}?exp=${of.exp}&kid=${kid}&sig=${sig}`;
}

export async function makeWatermark(
  db: Database,
  { project_id }: Pick<ProjectRow, 'project_id'>,
  { file_id }: Pick<FileRow, 'file_id'>,
): Promise<string> {
  const watermark_preset_id = id('wm');
  const preset = { name: watermark_preset_id, x_offset: 0, y_offset: 0, opacity: 100 };
  await db.transaction(async (tx) =>
    must(await upsertWatermarkPreset(tx, { watermark_preset_id, project_id, file_id, ...preset })),
  );
  return watermark_preset_id;
}

/** Changes columns and increments the generation, which invalidates every derived image. */
export async function change(
  db: Database,
  { project_id }: Pick<ProjectRow, 'project_id'>,
  columns: Record<string, unknown>,
): Promise<void> {
  const names = Object.keys(columns);
  const sets = names.map((name, at) => `${name} = $${at + 2}`);
  await db.query(
    `update projects set ${[...sets, 'generation = generation + 1'].join(', ')} where project_id = $1`,
    [project_id, ...Object.values(columns)],
  );
}
