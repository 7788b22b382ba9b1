/** The keys in the content bucket, for the code that writes them and the code that sweeps. */

/** The key prefix of everything that the attempts at one upload store. */
export function mastersOf(upload: { project_id: string; upload_id: string }): string {
  return `masters/${upload.project_id}/${upload.upload_id}/`;
}

/** The upload that stored a master; undefined when the key is not a master's. */
export function readMasterKey(key: string): { project_id: string; upload_id: string } | undefined {
  const [kind, project_id, upload_id, name, ...rest] = key.split('/');
  if (kind !== 'masters' || rest.length > 0) return undefined;
  if (project_id === undefined || upload_id === undefined || name === undefined) return undefined;
  return { project_id, upload_id };
}

/** The source of a derived image; undefined when the key is not a derived image's. */
export function readDerivedKey(
  key: string,
): { file_id: string; generation: number; revision: number } | undefined {
  const [, generation, file_id, revision] = DERIVED_KEY.exec(key) ?? [];
  if (file_id === undefined) return undefined;
  return { file_id, generation: Number(generation), revision: Number(revision) };
}

const DERIVED_KEY = /^derived\/[^/]+\/(\d+)\/([^/]+)\/(\d+)\/[^/]+$/;
