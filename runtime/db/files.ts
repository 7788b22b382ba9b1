// Table files, each row read together with its current revision. Spec: File; States and transitions, File.
import type { Mezzanine } from '../core/delivery/render-source.ts';
import { type FileStatus, fileMoves, statesBefore } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { prepared } from './prepared-statements.ts';

/** A pre-scaled image in file_revisions.mezzanines. */
export type MezzanineEntry = Mezzanine & { size_bytes: number };

/** The facts of a published image; keys are those of the content bucket. */
export type RevisionFacts = {
  object_key: string;
  content_type: string;
  size_bytes: number;
  /** Of the sanitized image; hex. */
  sha256: string;
  source_content_type: string;
  source_size_bytes: number;
  /** Of the uploaded bytes; hex. */
  source_sha256: string;
  width: number;
  height: number;
  has_alpha: boolean;
  is_lossless: boolean;
  /** Fractions of width and height. */
  focal_x: number;
  focal_y: number;
  dominant_color: string;
  thumb_hash: Buffer | null;
  mezzanines: MezzanineEntry[];
  /** The pixels in their own color space; null if the master serves for them. */
  raw_object_key: string | null;
  /** Saved metadata by kind (exif, icc, xmp): object keys. */
  metadata: Record<string, string>;
};

export type FileRow = RevisionFacts & {
  file_id: string;
  project_id: string;
  file_slug: string;
  status: FileStatus;
  revision: number;
  /** Numbers the project's files from 1: the order of lists. */
  position: number;
  library_id: string | null;
  /** The library's slug; `default` for the default library. */
  library: string;
  folder: string;
  title: string | null;
  alt_text: string | null;
  original_filename: string | null;
  uploader: Buffer | null;
  taken_at: Date | null;
  latitude: number | null;
  longitude: number | null;
  blocked_by: 'scanner' | 'staff' | null;
  blocked_reason: string | null;
  blocked_at: Date | null;
  block_count: number;
  unblock_count: number;
  deleted_at: Date | null;
  /** When data about the picture and about people was removed from a deleted file's row. */
  erased_at: Date | null;
  published_at: Date;
  created_at: Date;
  updated_at: Date;
};

/** The columns that lists read and show: mezzanines and metadata take longer to read. */
const LISTED_OF_FILE = [
  'file_id',
  'file_slug',
  'status',
  'revision',
  'position',
  'folder',
  'title',
  'alt_text',
  'original_filename',
  'taken_at',
  'latitude',
  'longitude',
  'created_at',
  'updated_at',
] as const;
const LISTED_OF_REVISION = [
  'content_type',
  'size_bytes',
  'sha256',
  'width',
  'height',
  'dominant_color',
  'thumb_hash',
] as const;

export type ListedFile = Pick<
  FileRow,
  (typeof LISTED_OF_FILE)[number] | (typeof LISTED_OF_REVISION)[number] | 'library'
>;

const LIBRARY = `coalesce(l.library_slug, 'default') as library`;

/** For rows of files, aliased f. */
export const LISTED_COLUMNS = [
  ...LISTED_OF_FILE.map((name) => `f.${name}`),
  ...LISTED_OF_REVISION.map((name) => `r.${name}`),
  LIBRARY,
].join(', ');

/** The columns read together with a row of files, aliased f. */
const REVISION_COLUMNS = `r.object_key, r.content_type, r.size_bytes, r.sha256, r.source_content_type,
  r.source_size_bytes, r.source_sha256, r.width, r.height, r.has_alpha, r.is_lossless, r.focal_x,
  r.focal_y, r.dominant_color, r.thumb_hash, r.mezzanines, r.raw_object_key, r.metadata,
  ${LIBRARY}`;
export const CURRENT_REVISION = `
  join file_revisions r on r.file_id = f.file_id and r.revision = f.revision
  left join libraries l on l.library_id = f.library_id`;

const SELECT = `select f.*, ${REVISION_COLUMNS} from files f ${CURRENT_REVISION}`;

const LIVE_BY_SLUG = prepared(
  `${SELECT} where f.project_id = $1 and f.file_slug = $2 and f.status <> 'deleted'`,
);
const LOCK_LIVE = prepared(
  `select from files where project_id = $1 and file_slug = $2 and status <> 'deleted' for no key update`,
);

/** By slug only, as a live file is the newest: by status, all deleted files would be read. */
const NEWEST_DELETED = prepared(
  `select from (select status from files where project_id = $1 and file_slug = $2 order by created_at desc limit 1) newest
   where status = 'deleted'`,
);

type SlugOfProject = { project_id: string; file_slug: string };

/** The live file of a slug: ready or blocked. */
export async function findFile(
  db: Queryable,
  { project_id, file_slug }: SlugOfProject,
): Promise<FileRow | undefined> {
  const rows = await db.query<FileRow>(LIVE_BY_SLUG, [project_id, file_slug]);
  return rows[0];
}

/** Includes deleted files. */
export async function findFileById(db: Queryable, fileId: string): Promise<FileRow | undefined> {
  return (await db.query<FileRow>(`${SELECT} where f.file_id = $1`, [fileId]))[0];
}

/**
 * Locks the project's row, as all that publishes, blocks or deletes does: nobody else moves the
 * file until the transaction ends. Includes deleted files.
 */
export async function lockFile(tx: Transaction, fileId: string): Promise<FileRow | undefined> {
  await tx.query(
    `select from projects where project_id = (select project_id from files where file_id = $1)
     for no key update`,
    [fileId],
  );
  return findFileById(tx, fileId);
}

/** The live file of a slug, locked until the transaction ends, including its texts and place. */
export async function lockLiveFile(
  tx: Transaction,
  { project_id, file_slug }: SlugOfProject,
): Promise<FileRow | undefined> {
  // Lock first, read second: this reads what the previous holder of the lock committed.
  await tx.query(LOCK_LIVE, [project_id, file_slug]);
  return findFile(tx, { project_id, file_slug });
}

/** Whether a slug's last file is deleted: deleting it again changes nothing. */
export async function hasDeletedFile(
  db: Queryable,
  { project_id, file_slug }: SlugOfProject,
): Promise<boolean> {
  return (await db.query(NEWEST_DELETED, [project_id, file_slug])).length > 0;
}

export type FileChanges = Partial<Pick<FileRow, 'title' | 'alt_text' | 'folder' | 'library_id'>>;

/** Changes the given columns; undefined if the slug has no live file. */
export async function updateFile(
  db: Queryable,
  { project_id, file_slug, changes }: SlugOfProject & { changes: FileChanges },
): Promise<FileRow | undefined> {
  const set = (['title', 'alt_text', 'folder', 'library_id'] as const).filter(
    (column) => changes[column] !== undefined,
  );
  const sets = set.map((column, index) => `${column} = $${index + 3}, `).join('');
  const [updated] = await db.query<{ file_id: string }>(
    `update files set ${sets}updated_at = now()
     where project_id = $1 and file_slug = $2 and status <> 'deleted' returning file_id`,
    [project_id, file_slug, ...set.map((column) => changes[column])],
  );
  return updated && findFileById(db, updated.file_id);
}

/** ready → blocked. Undefined if it is not ready. */
export async function updateFileBlocked(
  tx: Transaction,
  block: { file_id: string; blocked_by: 'scanner' | 'staff'; reason: string },
): Promise<FileRow | undefined> {
  const [updated] = await tx.query<{ file_id: string }>(
    `update files set status = 'blocked', blocked_by = $2, blocked_reason = $3, blocked_at = now(),
       block_count = block_count + 1, updated_at = now()
     where file_id = $1 and status = any($4) returning file_id`,
    [block.file_id, block.blocked_by, block.reason, statesBefore(fileMoves, 'block')],
  );
  return updated && findFileById(tx, updated.file_id);
}

/** Attributes the block to staff, with this reason. Undefined if not blocked, or already so. */
export async function updateFileBlockedByStaff(
  tx: Transaction,
  { file_id, reason }: { file_id: string; reason: string },
): Promise<FileRow | undefined> {
  const [updated] = await tx.query<{ file_id: string }>(
    `update files set blocked_by = 'staff', blocked_reason = $2, updated_at = now()
     where file_id = $1 and status = 'blocked' and (blocked_by, blocked_reason) is distinct from ('staff', $2)
     returning file_id`,
    [file_id, reason],
  );
  return updated && findFileById(tx, updated.file_id);
}

/** The file after the change, with `blocked_by` and `blocked_reason` from before it. */
export type UnblockedFile = Pick<FileRow, 'project_id' | 'file_id' | 'file_slug' | 'revision'> &
  Pick<FileRow, 'unblock_count' | 'blocked_by' | 'blocked_reason'>;

/** blocked → ready. Returns those that were blocked. */
export async function updateFilesUnblocked(
  tx: Transaction,
  fileIds: readonly string[],
): Promise<UnblockedFile[]> {
  return tx.query(
    `update files f set status = 'ready', blocked_by = null, blocked_reason = null, blocked_at = null,
       unblock_count = f.unblock_count + 1, updated_at = now()
     from files was where f.file_id = any($1) and f.status = any($2) and was.file_id = f.file_id
     returning f.project_id, f.file_id, f.file_slug, f.revision, f.unblock_count, was.blocked_by, was.blocked_reason`,
    [fileIds, statesBefore(fileMoves, 'unblock')],
  );
}
