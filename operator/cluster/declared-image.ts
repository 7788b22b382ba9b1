/**
 * The image that a WatermarkPreset declares: each pass compares it with the file of its slug, and uploads it through
 * the runtime's own code where they differ. It never replaces a file that it did not upload, except one left by a
 * preset that is gone, as after a rename or a move to another namespace. It never uploads again what moderation
 * blocked. Spec: Watermark preset; Upload session.
 */
import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { validateUploadRequest } from '../../runtime/actions/create-upload.ts';
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
import { StorageUnavailable } from '../../runtime/platform/storage/bucket.ts';
import { NO_SETTINGS, SettingsUnknown } from '../api-settings.ts';
import type { Identity } from '../declared.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Context as PassContext } from '../reconcile.ts';
import { fieldsOf, type RowDifference } from '../row-difference.ts';
import { fileSlugOf, type WatermarkPresetSpec } from '../watermark-preset/schema.ts';
import { databaseProblemOf } from './database-gate.ts';
import { describeRefusal, SUSPENDED } from './image-refusal.ts';
import { type Download, type Finding, readImage } from './image-source.ts';

export type ImageDeps = Omit<DeclaredImageDeps, 'db' | keyof ImageSettings> & {
  download: Download;
  /** The current settings of the installation's API. */
  findSettings(): Promise<ImageSettings>;
  /** By digest, why bytes were refused: for a while they are not fetched again. */
  refused: LRUCache<string, string>;
};

type ImageSettings = Pick<DeclaredImageDeps, 'plans' | 'settings'>;

type Declared = {
  identity: Identity;
  spec: WatermarkPresetSpec & { image: NonNullable<WatermarkPresetSpec['image']> };
  project: ProjectRow;
};

type Context = {
  db: Database;
  client: KubeClient;
  images?: ImageDeps | undefined;
  mode?: PassContext['mode'];
  /** Asks the API server: whether the preset does not exist, or is being deleted. */
  isPresetGone: (place: { namespace: string; name: string }) => Promise<boolean>;
};

/**
 * `difference`, with `plan-only`: the session that would be created or continued. `isLasting`:
 * another look soon would give the same result, at a cost.
 */
export type ImageOutcome = Finding & { difference?: RowDifference; isLasting?: true };

/** Why the preset cannot be as declared yet; undefined when the file already holds its image. */
export async function ensureImage(
  { identity, spec, project_uid }: Omit<Declared, 'project'> & { project_uid: string | undefined },
  context: Context,
): Promise<ImageOutcome | undefined> {
  const { db, images } = context;
  const project = project_uid === undefined ? undefined : await findProjectByOwner(db, project_uid);
  if (project === undefined) {
    // The project may exist by the time the rows are read, when nobody has begun to upload the
    // image.
    return found('ProjectNotFound', `there is no Project '${spec.projectRef.name}' yet`);
  }
  const declared = { identity, spec, project };
  const row = await findDeclaredImage(db, { ...ownerOf(identity), ...placeOf(declared) });
  if (row.file?.status === 'blocked') return undefined;
  // The digest identifies the content of a URL, which is fetched only when its bytes are needed.
  const { sha256 } = spec.image;
  const known = sha256 === undefined ? 'open' : await judge(declared, { row, sha256 }, context);
  if (known !== 'open') return known === 'brought' ? undefined : known;
  // Without a digest, only reading the ConfigMap or Secret shows whether the file holds its bytes.
  const isPending = sha256 !== undefined || row.file === null;
  if (isPending && project.status !== 'active') return lasting(found('ImageRefused', SUSPENDED));
  if (images === undefined) {
    return found(
      'ImagesUnavailable',
      'the operator has no storage configured: set TINTYPE_S3_ENDPOINT for it',
    );
  }
  const refusal = sha256 === undefined ? undefined : images.refused.get(sha256);
  if (refusal !== undefined) return lasting(found('ImageRefused', refusal));
  const said = await bring(declared, row, { ...context, images });
  const isBegun = said?.reason === 'ImageUploading' && said.difference === undefined;
  return said === undefined || sha256 === undefined || isBegun ? said : lasting(said);
}

type Standing = ImageOutcome | 'brought' | 'open';

/** What the rows say about an image of this digest; `open`: its bytes have yet to be uploaded. */
async function judge(
  declared: Declared,
  { row: { file, upload }, sha256 }: { row: DeclaredImageRow; sha256: string },
  context: Pick<Context, 'isPresetGone'>,
): Promise<Standing> {
  if (file?.status === 'ready' && file.sha256 === sha256) return 'brought';
  const { file_slug } = placeOf(declared);
  if (file !== null && !(await isFree(file, declared.identity, context))) {
    const message = `the project has a file '${file_slug}' that the preset did not upload: set another fileSlug`;
    return found('FileTaken', message);
  }
  const last = upload?.sha256 === sha256 ? upload : null;
  if (last?.status === 'failed') return isOfWorkers(last) ? putOff(last) : refused(declared, last);
  const isUnderWay = last?.status === 'uploaded' || last?.status === 'processing';
  return isUnderWay ? onItsWay(file_slug) : 'open';
}

type LastUpload = NonNullable<DeclaredImageRow['upload']>;

/**
 * A worker that was killed or too slow says little about the picture, and nothing about later
 * workers.
 */
function isOfWorkers({ error_code }: LastUpload): boolean {
  return error_code === 'processing_abandoned' || error_code === 'processing_timeout';
}

/** Long, so that a picture that does kill workers does so seldom. */
const RETRY_SECONDS = 3600;

function putOff({ age_seconds, error_code }: LastUpload): Standing {
  if (age_seconds >= RETRY_SECONDS) return 'open';
  const message = `the image could not be processed (${error_code}); it is tried again within ${RETRY_SECONDS / 60} minutes`;
  return lasting(found('ImageUploading', message));
}

function refused({ spec }: Declared, { error_code }: LastUpload): Standing {
  const said = found('ImageRefused', `the image was refused as ${error_code}: declare another one`);
  return spec.image.url === undefined ? said : lasting(said);
}

async function isFree(
  { owner }: NonNullable<DeclaredImageRow['file']>,
  { namespace, name }: Identity,
  { isPresetGone }: Pick<Context, 'isPresetGone'>,
): Promise<boolean> {
  if (owner === null) return false;
  const isOwn = owner.namespace === namespace && owner.name === name;
  return isOwn || (!owner.is_elsewhere && (await isPresetGone(owner)));
}

async function bring(
  declared: Declared,
  row: DeclaredImageRow,
  { db, client, images, mode, isPresetGone }: Context & { images: ImageDeps },
): Promise<ImageOutcome | undefined> {
  const { spec, identity } = declared;
  const source = { client, download: images.download };
  const bytes = await readImage(source, spec.image, identity.namespace);
  if (!Buffer.isBuffer(bytes)) return bytes;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (spec.image.sha256 !== undefined && spec.image.sha256 !== sha256) {
    return found('ImageDigestMismatch', `the image at \`spec.image.url\` has the digest ${sha256}`);
  }
  const standing = await judge(declared, { row, sha256 }, { isPresetGone });
  if (standing !== 'open') return standing === 'brought' ? undefined : standing;
  const { file_slug } = placeOf(declared);
  const last = row.upload?.sha256 === sha256 ? row.upload : null;
  const upload_id = last?.status === 'created' ? last.upload_id : undefined;
  const upload = mode === 'plan-only' ? planner(images) : uploader({ ...images, db });
  try {
    const difference = await upload({ declared, file_slug, bytes, sha256, upload_id });
    return difference === undefined ? onItsWay(file_slug) : { ...onItsWay(file_slug), difference };
  } catch (error) {
    if (error instanceof StorageUnavailable) return lasting(away(error));
    if (error instanceof SettingsUnknown) return lasting(unsettled(images, { identity, error }));
    if (!(error instanceof ServiceError) || databaseProblemOf(error) !== undefined) throw error;
    const { message, whose } = describeRefusal(error);
    if (whose === 'bytes') images.refused.set(sha256, message);
    const said = found('ImageRefused', message);
    return whose === 'project' ? lasting(said) : said;
  }
}

/** The storage's own error would mean nothing to the preset's author. */
function away({ advice }: StorageUnavailable): Finding {
  return found('ImagesUnavailable', `the storage does not accept the image: ${advice}`);
}

type Failure = { identity: Identity; error: SettingsUnknown };

/** Reports why the image waits: the preset itself is valid. */
function unsettled({ log }: ImageDeps, { identity: { namespace, name }, error }: Failure): Finding {
  log.error('a declared image waits for the settings of the API', {
    name: `${namespace}/${name}`,
    error,
  });
  return found('SettingsUnknown', NO_SETTINGS);
}

/** `upload_id`: the session to continue. */
type Upload = ImageBytes & { declared: Declared; upload_id: string | undefined };

type CarryOut = (upload: Upload) => Promise<RowDifference | undefined>;

function uploader({ findSettings, ...deps }: ImageDeps & { db: Database }): CarryOut {
  return async ({ declared: { project, identity }, ...image }) => {
    const input = { ...image, project, owner: ownerOf(identity) };
    await uploadDeclaredImage({ ...deps, ...(await findSettings()) }, input);
    return undefined;
  };
}

/**
 * Plans no upload that would be refused, except for lack of room, which may be available by then.
 */
function planner({ findSettings }: ImageDeps): CarryOut {
  return async ({ declared: { project }, upload_id, ...image }) => {
    if (project.status !== 'active') throw new ServiceError('project_suspended');
    const table = 'uploads';
    const { file_slug, ...request } = declaredUpload(image);
    if (upload_id === undefined) {
      validateUploadRequest(request, (await findSettings()).settings);
      return { action: 'insert', table, row: file_slug, fields: fieldsOf(request) };
    }
    const fields = fieldsOf({ status: 'uploaded' }, { status: 'created' });
    return { action: 'update', table, row: upload_id, fields };
  };
}

function placeOf({ identity, spec, project: { project_id } }: Declared) {
  return { project_id, file_slug: fileSlugOf(identity, spec) };
}

function ownerOf({ namespace, name }: Identity) {
  return { owner_namespace: namespace, owner_name: name };
}

function onItsWay(file_slug: string): Finding {
  return found('ImageUploading', `the image is not published as the file '${file_slug}' yet`);
}

function found(reason: Finding['reason'], message: string): Finding {
  return { reason, message };
}

function lasting(said: ImageOutcome): ImageOutcome {
  return { ...said, isLasting: true };
}
