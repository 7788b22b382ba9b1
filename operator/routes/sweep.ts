/**
 * Compares all projects that have routes or a resource with the cluster, by the caches alone, and returns the keys that
 * need work. Includes routes of deleted projects.
 */
import { listRoutedProjects, type RoutedProjectRow } from '../../runtime/db/routed-projects.ts';
import { keyOf } from '../kube/resource.ts';
import {
  declaredRouting,
  hasSyncedCondition,
  ownerOf,
  planRoute,
  type RouteContext,
  type RouteSubject,
  shouldSkip,
} from './project-route.ts';
import { isReported } from './report-to-project.ts';
import { conditionOf } from './verdict.ts';

const PAGE_ROWS = 1_000;

export async function findUnsettled(
  context: RouteContext,
  { page_rows = PAGE_ROWS }: { page_rows?: number } = {},
): Promise<string[]> {
  const { caches, edges } = context;
  const seen = new Set<string>();
  const unsettled: string[] = [];
  for await (const project of eachProject(context, page_rows)) {
    const slug = project.project_slug;
    const subject = { slug, project, object: ownerOf(project, caches) };
    seen.add(slug).add(subjectKey(subject));
    if (!isSettled(subject, context)) unsettled.push(subjectKey(subject));
  }
  const orphans = [...edges.slugs()].filter((slug) => !seen.has(slug));
  const withoutRow = caches.keys('Project').filter((key) => {
    const object = caches.get('Project', key);
    const subject = { slug: undefined, project: undefined, object };
    return !seen.has(key) && !isSettled(subject, context);
  });
  return [...unsettled, ...orphans, ...withoutRow];
}

async function* eachProject(
  { db }: RouteContext,
  page_rows: number,
): AsyncGenerator<RoutedProjectRow> {
  let page: RoutedProjectRow[] = [];
  do {
    page = await listRoutedProjects(db, { after: page.at(-1)?.project_id ?? '', limit: page_rows });
    yield* page;
  } while (page.length === page_rows);
}

/** The resource's key if a resource declares the project: one key per project. */
export function subjectKey({ slug = '', object }: RouteSubject): string {
  return object === undefined ? slug : keyOf(object.metadata);
}

/**
 * Hosts to probe are never settled for good. A resource without a first pass needs its rows first.
 */
function isSettled(subject: RouteSubject, context: RouteContext): boolean {
  const { object } = subject;
  if (shouldSkip(subject, context) || (object !== undefined && !hasSyncedCondition(object)))
    return true;
  const { steps, verdict, mutated } = planRoute(subject, context);
  if (steps.length > 0) return false;
  if (object === undefined) return true;
  return (
    declaredRouting(object).probe === 'Disabled' &&
    isReported(object, conditionOf(verdict, mutated))
  );
}
