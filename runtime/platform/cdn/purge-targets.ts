/**
 * What purges name at a CDN: the tags that each answer carries, or, for a cache without tags, the hosts of the project.
 * Purges of the same thing share one target. Spec: Caching and response headers.
 */
import { inChunks } from '../../core/in-chunks.ts';
import type { CdnPurge } from './cdn.ts';
import type { CdnCall, CdnRequest, PurgeTarget } from './cdn-api.ts';

/** A project's tag covers its files, so a purge of a file needs no tag beside it. */
function tagsOf<Purge extends CdnPurge>(purges: readonly Purge[]): PurgeTarget<Purge>[] {
  const whole = new Set(purges.filter(isWhole).map(({ project_id }) => project_id));
  return group(purges, ({ project_id, file_id }) => [
    whole.has(project_id) || file_id === null ? project_id : file_id,
  ]);
}

/** Every host from which a project is delivered. */
export function hostsOf<Purge extends CdnPurge>(
  purges: readonly Purge[],
  rootDomain: string,
): PurgeTarget<Purge>[] {
  return group(purges, ({ project_slug, custom_domains }) => [
    `${project_slug}.${rootDomain}`,
    ...custom_domains,
  ]);
}

type ByTags = {
  lane: string;
  /** The maximum number of tags per call. */
  tags_max: number;
  request(tags: readonly string[]): CdnRequest;
};

/** The calls that name tags, each with as many as allowed. */
export function callsByTags<Purge extends CdnPurge>(
  purges: readonly Purge[],
  { lane, tags_max, request }: ByTags,
): CdnCall<Purge>[] {
  return [...inChunks(tagsOf(purges), tags_max)].map((targets) => ({
    lane,
    request: request(targets.map(({ name }) => name)),
    targets,
  }));
}

function isWhole({ file_slug, file_id }: CdnPurge): boolean {
  return file_slug === null || file_id === null;
}

function group<Purge>(
  purges: readonly Purge[],
  namesOf: (purge: Purge) => readonly string[],
): PurgeTarget<Purge>[] {
  const targets = new Map<string, Purge[]>();
  for (const purge of purges) {
    for (const name of namesOf(purge)) {
      const known = targets.get(name);
      if (known === undefined) targets.set(name, [purge]);
      else known.push(purge);
    }
  }
  return [...targets].map(([name, named]) => ({ name, purges: named }));
}
