/** What would become of a Project's routes if it were put into effect, one line per route. Spec: Project (status). */
import { findRoutedProject } from '../../runtime/db/routed-projects.ts';
import { declaredSlug, isBeingDeleted, type TenantObject } from '../cluster/tenant-object.ts';
import { ended } from '../kube/timed-clock.ts';
import { projectSpec } from '../project/schema.ts';
import type { RouteStep } from './decide.ts';
import { routeTypes } from './live-route.ts';
import { planRoute, type RouteContext } from './project-route.ts';

type PlanContext = Pick<RouteContext, 'db' | 'edges'>;

/** Deleting a resource changes nothing: the project keeps its domains. */
export async function planRoutes(object: TenantObject, context: PlanContext): Promise<string[]> {
  const { metadata, spec = {} } = object;
  const parsed = projectSpec.safeParse(spec);
  if (isBeingDeleted(object) || !parsed.success) return [];
  await allListed(context);
  const row = await findRoutedProject(context.db, { owner_uid: metadata.uid });
  const { staff } = parsed.data;
  const slug = declaredSlug(object);
  const project = {
    project_id: '',
    project_slug: slug,
    owner_uid: metadata.uid,
    owner_namespace: metadata.namespace ?? null,
    owner_name: metadata.name,
    ...row,
    custom_domains: staff?.customDomains ?? row?.custom_domains ?? [],
  };
  const subject = { slug: row?.project_slug, project, object };
  return planRoute(subject, context).steps.map(printStep);
}

const LISTED_MS_MAX = 10_000;
const UNLISTED = 'the existing routes cannot be listed yet: the plan waits for them';

/** Does not wait for what lacks the permission to be listed: other resources need their turn. */
async function allListed({ edges }: PlanContext): Promise<void> {
  const late = ended(AbortSignal.timeout(LISTED_MS_MAX)).then(() => {
    throw new Error(UNLISTED);
  });
  await Promise.race([edges.synced, late]);
  if (edges.find().state === 'unseen') throw new Error(UNLISTED);
}

function printStep(step: RouteStep): string {
  if (step.do === 'delete') {
    const { mode, object } = step.route;
    return `- ${routeTypes[mode].kind} ${object.metadata.namespace}/${object.metadata.name}`;
  }
  const { mode, metadata, hosts } = step.route;
  const sign = step.to === 'new' ? '+' : '~';
  return `${sign} ${routeTypes[mode].kind} ${metadata.namespace}/${metadata.name}: ${hosts.join(', ')}`;
}
