/** The rates that limit calls. Spec: Rates (failed authentications, writes). */
import { LRUCache } from 'lru-cache';
import { ACCESS_REQUESTS_PER_MINUTE_PER_IP_MAX } from '../../core/limits.ts';
import { parseProjectSlug } from '../../core/slug.ts';
import type { Database } from '../../db/client.ts';
import { findProjectBySlug } from '../../db/projects.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Principal } from '../auth/principal.ts';
import { type AuthFailureLimiter, createAuthFailureLimiter } from './auth-failure-limiter.ts';
import { createMinuteRate, type MinuteRate } from './minute-rate.ts';

export type Rates = {
  authFailures: AuthFailureLimiter;
  writes: MinuteRate;
  accessRequests: MinuteRate;
  /** Whether the organization has a project with this slug. */
  hasProject: HasProject;
};

type HasProject = (organizationId: string, projectSlug: string) => Promise<boolean>;

type Terms = {
  db: Database;
  clock: Clock;
  log: Log;
  metrics?: Pick<Metrics, 'rateRefused'>;
  failedAuthenticationsPerMinute: number;
  writesPerMinute: number;
};

export function createRates({
  failedAuthenticationsPerMinute,
  writesPerMinute,
  ...deps
}: Terms): Rates {
  return {
    authFailures: createAuthFailureLimiter(
      createMinuteRate({
        ...deps,
        scope: 'failed-authentication',
        limit: failedAuthenticationsPerMinute,
      }),
    ),
    writes: createMinuteRate({ ...deps, scope: 'write', limit: writesPerMinute }),
    accessRequests: createMinuteRate({
      ...deps,
      scope: 'access-request',
      limit: ACCESS_REQUESTS_PER_MINUTE_PER_IP_MAX,
    }),
    hasProject: createHasProject(deps),
  };
}

const KNOWN_MAX = 10_000;
/** Projects rarely move between organizations; then writes count separately for up to this long. */
const KNOWN_MS = 60_000;

function createHasProject({ db }: Pick<Terms, 'db'>): HasProject {
  const known = new LRUCache<string, string>({ max: KNOWN_MAX, ttl: KNOWN_MS });
  return async (organizationId, projectSlug) => {
    const owner =
      known.get(projectSlug) ?? (await findProjectBySlug(db, projectSlug))?.organization_id;
    if (owner !== undefined) known.set(projectSlug, owner);
    return owner === organizationId;
  };
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

type Write = { method: string; principal: Principal; project_slug: string };

/** Throws rate_limited if a caller writes too much to one project. */
export async function limitWriteRate(
  rates: Rates,
  { method, principal, project_slug }: Write,
): Promise<void> {
  if (READS.has(method)) return;
  const subject = await writerOf(rates, principal, project_slug);
  if (subject !== undefined) await rates.writes.take(subject);
}

/**
 * The project that is written to, for a picker the one in its token. All slugs that are not the
 * organization's count as one, because otherwise each guessed slug would get a limit of its own.
 */
async function writerOf(
  { hasProject }: Pick<Rates, 'hasProject'>,
  principal: Principal,
  projectSlug: string,
): Promise<string | undefined> {
  switch (principal.kind) {
    case 'none':
      return undefined;
    case 'key':
      return `${principal.key.project.organization_id}/${principal.key.project.project_slug}`;
    case 'library_session':
      return `${principal.facts.organization_id}/${principal.facts.project_slug}`;
    case 'dash': {
      const { organization_id } = principal.organization;
      const slug = parseProjectSlug(projectSlug) ?? '';
      const isOwn = slug !== '' && (await hasProject(organization_id, slug));
      return `${organization_id}/${isOwn ? slug : ''}`;
    }
  }
}
