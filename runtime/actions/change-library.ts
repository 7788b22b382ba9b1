/**
 * Creates, changes and deletes the libraries of a project, with the audit entry in the same transaction. The default
 * library has no row; only its allowed origins are stored, with its project. Spec: Library; Libraries.
 */
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../core/errors.ts';
import {
  type CreateLibrary,
  type PatchLibrary,
  unsupportedLibraryFields,
} from '../core/resources/library.ts';
import { DEFAULT_LIBRARY, parseLibraryName, parseLibrarySlug } from '../core/slug.ts';
import { type Actor, insertAuditEntry, type NewAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { COUNTED_MAX } from '../db/count-waiting.ts';
import {
  countLibraryContents,
  insertLibrary,
  type LibraryRow,
  lockLibrary,
  updateLibrary,
  updateLibraryDeleted,
} from '../db/libraries.ts';
import { lockProject, type ProjectRow, updateProject } from '../db/projects.ts';
import { requireFilterable, type SizeSettings } from './require-filterable.ts';
import { type PlaceSettings, requireLibraryWrites } from './require-place.ts';

export type LibrarySettings = PlaceSettings & SizeSettings;

type ActionContext = { project_id: string; actor: Actor; settings: LibrarySettings };
type LibraryActionContext = ActionContext & {
  /** The name in the path. */
  library: string;
};

/** The result: a named library, or the project that stores the default library's origins. */
export type ChangedLibrary =
  | { kind: 'named'; row: LibraryRow }
  | { kind: 'default'; project: ProjectRow };

/**
 * Throws media_library_disabled, not_supported, invalid_library_slug, filter_unavailable and
 * library_slug_taken.
 */
export async function createLibrary(
  db: Database,
  {
    project_id,
    actor,
    settings,
    input,
    library_id,
  }: ActionContext & { input: CreateLibrary; library_id: string },
): Promise<LibraryRow> {
  requireLibraryWrites(settings);
  refuseUnsupported(input);
  const library_slug = parseLibrarySlug(input.slug);
  if (library_slug === undefined) throw new ServiceError('invalid_library_slug');
  await requireFilterable(db, { project_id, needs: 'indexes', settings });
  const { name, allowed_origins = [] } = input;
  return db.transaction(async (tx) => {
    const library = { library_id, project_id, library_slug, name, allowed_origins };
    const row = await insertLibrary(tx, library);
    if (row === undefined) throw new ServiceError('library_slug_taken');
    await audit(tx, row, { ...actor, action: 'library.create', after: settingsOf(row) });
    return row;
  });
}

/** Throws media_library_disabled, not_supported, default_library_immutable, library_not_found. */
export async function changeLibrary(
  db: Database,
  change: LibraryActionContext & { input: PatchLibrary },
): Promise<ChangedLibrary> {
  const { settings, library, input } = change;
  requireLibraryWrites(settings);
  const library_slug = parseLibraryName(library);
  if (library_slug === undefined) throw new ServiceError('library_not_found');
  const isDefault = library_slug === DEFAULT_LIBRARY;
  if (isDefault && Object.keys(input).some((field) => field !== 'allowed_origins')) {
    throw new ServiceError('default_library_immutable');
  }
  refuseUnsupported(input);
  return db.transaction((tx) =>
    isDefault ? changeDefault(tx, change) : changeNamed(tx, { ...change, library_slug }),
  );
}

function refuseUnsupported(input: CreateLibrary | PatchLibrary): void {
  const fields = unsupportedLibraryFields.filter((field) => field in input);
  if (fields.length > 0) throw new ServiceError('not_supported', { details: { fields } });
}

async function changeNamed(
  tx: Transaction,
  {
    project_id,
    library_slug,
    input,
    actor,
  }: ActionContext & { library_slug: string; input: PatchLibrary },
): Promise<ChangedLibrary> {
  const before = await lockLibrary(tx, { project_id, library_slug });
  if (before === undefined) throw new ServiceError('library_not_found');
  const { name = before.name, allowed_origins = before.allowed_origins } = input;
  const wanted = { ...before, name, allowed_origins };
  if (isDeepStrictEqual(wanted, before)) return { kind: 'named', row: before };
  const row = (await updateLibrary(tx, wanted)) ?? before;
  const [then, now] = [settingsOf(before), settingsOf(row)];
  await audit(tx, row, { ...actor, action: 'library.update', before: then, after: now });
  return { kind: 'named', row };
}

async function changeDefault(
  tx: Transaction,
  { project_id, input, actor }: ActionContext & { input: PatchLibrary },
): Promise<ChangedLibrary> {
  const before = await lockProject(tx, project_id);
  if (before === undefined) throw new ServiceError('not_found');
  const { allowed_origins = before.library_origins } = input;
  if (isDeepStrictEqual(allowed_origins, before.library_origins)) {
    return { kind: 'default', project: before };
  }
  const changes = { library_origins: allowed_origins };
  const project = (await updateProject(tx, { project_id, changes })) ?? before;
  await insertAuditEntry(tx, {
    ...actor,
    project_id,
    action: 'library.update',
    target: DEFAULT_LIBRARY,
    before: { allowed_origins: before.library_origins },
    after: { allowed_origins },
  });
  return { kind: 'default', project };
}

/**
 * Throws media_library_disabled, default_library_immutable, filter_unavailable, library_not_found
 * and library_not_empty.
 */
export async function deleteLibrary(db: Database, context: LibraryActionContext): Promise<void> {
  const { project_id, library, settings, actor } = context;
  requireLibraryWrites(settings);
  const library_slug = parseLibraryName(library);
  if (library_slug === undefined) throw new ServiceError('library_not_found');
  if (library_slug === DEFAULT_LIBRARY) throw new ServiceError('default_library_immutable');
  await requireFilterable(db, { project_id, needs: 'indexes', settings });
  await db.transaction(async (tx) => {
    // Lock before counting, so that the count includes everything that earlier holders of the lock
    // added.
    const row = await lockLibrary(tx, { project_id, library_slug });
    if (row === undefined) throw new ServiceError('library_not_found');
    await refuseContents(tx, row);
    await updateLibraryDeleted(tx, row.library_id);
    await audit(tx, row, { ...actor, action: 'library.delete', before: settingsOf(row) });
  });
}

async function refuseContents(tx: Transaction, { library_id }: LibraryRow): Promise<void> {
  const { files, uploads } = await countLibraryContents(tx, library_id);
  if (files + uploads === 0) return;
  const message = `The library holds ${describeCount(files)} files, and ${describeCount(uploads)} uploads into it are not finished. Move or delete the files and wait for the uploads, or abort them.`;
  throw new ServiceError('library_not_empty', { message });
}

function describeCount(count: number): string {
  return count < COUNTED_MAX ? String(count) : `${count} or more`;
}

function settingsOf({ library_slug: slug, name, allowed_origins }: LibraryRow) {
  return { slug, name, allowed_origins };
}

function audit(
  tx: Transaction,
  { project_id, library_id: target }: LibraryRow,
  entry: NewAuditEntry,
): Promise<void> {
  return insertAuditEntry(tx, { ...entry, project_id, target });
}
