/**
 * The image that a WatermarkPreset brings itself: compared with the file of its slug at each pass, uploaded where they
 * differ by the runtime's own way in. Another's file is never replaced, and what moderation blocked is not brought
 * again. Spec: Watermark preset; Upload session.
 */
import { createHash } from 'node:crypto';
import {
  type DeclaredImageDeps,
  declaredUpload,
  type ImageBytes,
  uploadDeclaredImage,
} from '../../runtime/actions/upload-declared-image.ts';
import { ServiceError } from '../../runtime/core/errors.ts';
import type { Database } from '../../runtime/db/client.ts';
import { type DeclaredImageRow, findDeclaredImage } from '../../runtime/db/declared-uploads.ts';
import { findProjectByOwner, type ProjectRow } from '../../runtime/db/projects.ts';
import type { Identity } from '../declared.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Context as PassContext } from '../reconcile.ts';
import { fieldsOf, type RowDifference } from '../row-difference.ts';
import { fileSlugOf, type WatermarkPresetSpec } from '../watermark-preset/schema.ts';
import { absenceOf } from './database-gate.ts';
import { type Download, type Found, readImage } from './image-source.ts';

export type ImageDeps = Omit<DeclaredImageDeps, 'db'> & { download: Download };

type Bringing = {
  identity: Identity;
  spec: WatermarkPresetSpec & { image: NonNullable<WatermarkPresetSpec['image']> };
  project: ProjectRow;
};

type Context = {
  db: Database;
  client: KubeClient;
  images?: ImageDeps | undefined;
  mode?: PassContext['mode'];
};

/** With `plan-only`: the session that would be made, or go on. */
export type ImageFound = Found & { difference?: RowDifference };

/** Why the preset cannot be as declared yet; undefined where its image is the file's. */
export async function bringImage(
  { identity, spec, project_uid }: Omit<Bringing, 'project'> & { project_uid: string | undefined },
  context: Context,
): Promise<ImageFound | undefined> {
  const { db, images, client, mode } = context;
  const project = project_uid === undefined ? undefined : await findProjectByOwner(db, project_uid);
  if (project === undefined) return undefined;
  const bringing = { identity, spec, project };
  const row = await findDeclaredImage(db, { ...ownerOf(identity), ...placeOf(bringing) });
  // What a URL leads to is known by its digest: it is fetched once.
  if (row.file?.status === 'blocked' || isBrought(row, spec.image.sha256)) return undefined;
  if (images === undefined) {
    return found(
      'ImagesUnavailable',
      'the operator was given no storage: set TINTYPE_S3_ENDPOINT for it',
    );
  }
  const bytes = await readImage(
    { client, download: images.download },
    spec.image,
    identity.namespace,
  );
  if (!Buffer.isBuffer(bytes)) return bytes;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const carryOut = mode === 'plan-only' ? planUpload : uploader({ ...images, db });
  return judge(bringing, { row, bytes, sha256 }, carryOut);
}

type Image = { row: DeclaredImageRow; bytes: Buffer; sha256: string };

/** `upload_id`: of the session to go on with. */
type Upload = ImageBytes & { bringing: Bringing; upload_id: string | undefined };

type CarryOut = (upload: Upload) => Promise<RowDifference | undefined>;

async function judge(
  bringing: Bringing,
  { row, bytes, sha256 }: Image,
  carryOut: CarryOut,
): Promise<ImageFound | undefined> {
  const { spec } = bringing;
  const { file_slug } = placeOf(bringing);
  if (spec.image.sha256 !== undefined && spec.image.sha256 !== sha256) {
    return found(
      'ImageDigestMismatch',
      `what \`spec.image.url\` leads to has the digest ${sha256}`,
    );
  }
  if (isBrought(row, sha256)) return undefined;
  if (row.file !== null && !row.file.is_own) {
    const message = `the project has a file '${file_slug}' that the preset did not bring: set another fileSlug`;
    return found('FileTaken', message);
  }
  const last = row.upload?.sha256 === sha256 ? row.upload : null;
  if (last?.status === 'failed') {
    const message = `the image was refused as ${last.error_code}: declare another one`;
    return found('ImageRefused', message);
  }
  const upload_id = last?.status === 'created' ? last.upload_id : undefined;
  const isUnderWay = last?.status === 'uploaded' || last?.status === 'processing';
  const onItsWay = found('ImageUploading', `the image is on its way to the file '${file_slug}'`);
  if (isUnderWay) return onItsWay;
  try {
    const difference = await carryOut({ bringing, file_slug, bytes, sha256, upload_id });
    return difference === undefined ? onItsWay : { ...onItsWay, difference };
  } catch (error) {
    if (!(error instanceof ServiceError) || absenceOf(error) !== undefined) throw error;
    return found('ImageRefused', error.message);
  }
}

function uploader(deps: DeclaredImageDeps): CarryOut {
  return async ({ bringing: { project, identity }, ...image }) => {
    await uploadDeclaredImage(deps, { ...image, project, owner: ownerOf(identity) });
    return undefined;
  };
}

async function planUpload({ upload_id, ...image }: Upload): Promise<RowDifference> {
  const table = 'uploads';
  const { file_slug, ...wish } = declaredUpload(image);
  if (upload_id === undefined) {
    return { action: 'insert', table, row: file_slug, fields: fieldsOf(wish) };
  }
  const fields = fieldsOf({ status: 'uploaded' }, { status: 'created' });
  return { action: 'update', table, row: upload_id, fields };
}

function isBrought({ file }: DeclaredImageRow, sha256: string | undefined): boolean {
  return sha256 !== undefined && file?.status === 'ready' && file.sha256 === sha256;
}

function placeOf({ identity, spec, project: { project_id } }: Bringing) {
  return { project_id, file_slug: fileSlugOf(identity, spec) };
}

function ownerOf({ namespace, name }: Identity) {
  return { owner_namespace: namespace, owner_name: name };
}

function found(reason: Found['reason'], message: string): Found {
  return { reason, message };
}
