/** Purges for tests of adapters. */
import type { CdnPurge, CdnRefusal } from '../../../../runtime/platform/cdn/cdn.ts';

export const never = new AbortController().signal;

/** Of a file; of the whole project without one. */
export function purgeOf(project: string, file: string | null = null): CdnPurge {
  return {
    project_id: `prj_${project}`,
    project_slug: project,
    custom_domains: [],
    file_id: file && `file_${file}`,
    file_slug: file && `${file}.jpg`,
  };
}

export function many(count: number, project = 'shop'): CdnPurge[] {
  return Array.from({ length: count }, (_, at) => purgeOf(project, String(at)));
}

/** Which files were refused, and why. */
export function refusals(refused: ReadonlyMap<CdnPurge, CdnRefusal>) {
  return [...refused].map(([{ project_id, file_id }, { facts, message }]) => ({
    name: file_id ?? project_id,
    message,
    ...facts,
  }));
}
