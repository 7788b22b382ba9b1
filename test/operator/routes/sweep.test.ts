// Spec: Project (custom_domains, status).
import { expect, it } from 'vitest';
import type { RouteContext } from '../../../operator/routes/project-route.ts';
import { findUnsettled } from '../../../operator/routes/sweep.ts';
import { updateProjectDomains } from '../../../runtime/db/project-domains.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';
import { readyEdge, wildcard } from './samples.ts';

const { db } = useDatabase();

it('every project with hosts of its own is compared with the cluster, across pages of rows', async () => {
  const slugs: string[] = [];
  for (let made = 0; made < 5; made += 1) {
    const { project_id, project_slug } = await makeProject(db);
    const domains = [`img.${project_slug}.example`];
    await db.transaction((tx) => updateProjectDomains(tx, { project_id, domains }));
    slugs.push(project_slug);
  }
  const edges = {
    find: () => readyEdge(),
    slugs: () => [].values(),
    routesOf: () => [],
    wildcard: () => wildcard(),
  } as unknown as RouteContext['edges'];
  const caches = { keys: () => [] } as unknown as RouteContext['caches'];
  const context = { db, edges, caches } as unknown as RouteContext;
  const unsettled = await findUnsettled(context, { page_rows: 2 });
  expect(unsettled.toSorted()).toEqual(slugs.toSorted());
});
