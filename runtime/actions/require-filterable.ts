/**
 * Which work on libraries a project's size allows: above a threshold it needs the library indexes, or is refused
 * altogether. Spec: Limits, unindexed-project threshold.
 */
import { ServiceError } from '../core/errors.ts';
import type { Queryable } from '../db/client.ts';
import { findProjectSize } from '../db/library-indexes.ts';

export type SizeSettings = {
  /** Number of files above which the indexes are needed; 0: no threshold. */
  readonly unindexedThreshold: number;
};

type Asked = {
  project_id: string;
  /** `small`: no index serves this work, so the project must be small. */
  needs: 'indexes' | 'small';
  settings: SizeSettings;
};

/** Throws filter_unavailable. */
export async function requireFilterable(
  db: Queryable,
  { project_id, needs, settings: { unindexedThreshold: max_files } }: Asked,
): Promise<void> {
  if (max_files === 0) return;
  const { file_rows, is_indexed } = await findProjectSize(db, project_id);
  if (file_rows <= max_files || (needs === 'indexes' && is_indexed)) return;
  const message = `The project has more than ${max_files} files: ${WHY[needs]}`;
  throw new ServiceError('filter_unavailable', { message, details: { max_files } });
}

const WHY: Record<Asked['needs'], string> = {
  indexes:
    'libraries and folders need indexes, which have not been built. Leave libraries and folders out, or have the indexes built (tintype job library-indexes).',
  small:
    'search, and library filters over deleted files, would read all of them. Leave them out; q finds files by the beginning of the slug.',
};
