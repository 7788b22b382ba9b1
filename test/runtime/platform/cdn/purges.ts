/** Purges for the tests of CDN adapters. */
import type { CdnPurge, CdnRefusal } from '../../../../runtime/platform/cdn/cdn.ts';

export const never = new AbortController().signal;

/** A purge of one file, or without `file` of the whole project. */
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

/** The refused purges, each with the reason. */
export function refusals(refused: ReadonlyMap<CdnPurge, CdnRefusal>) {
  return [...refused].map(([{ project_id, file_id }, { facts, message }]) => ({
    name: file_id ?? project_id,
    message,
    ...facts,
  }));
}
