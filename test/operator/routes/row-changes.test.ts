// Spec: Project (custom_domains).
import { expect, it } from 'vitest';
import { createRowChanges } from '../../../operator/routes/row-changes.ts';
import { updateProjectDomains } from '../../../runtime/db/project-domains.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();

const domainsOf = ({ project_id, project_slug }: ProjectRow) => ({
  project_id,
  domains: [`img.${project_slug}.example`],
});

it('a change that is committed after one with a later number is still seen, each exactly once', async () => {
  const [early, late] = [await makeProject(db), await makeProject(db)];
  const changes = createRowChanges(db);
  expect(await changes.take()).toEqual({ slugs: [], isAll: true });
  await db.transaction(async (tx) => {
    await updateProjectDomains(tx, domainsOf(late));
    await db.transaction((other) => updateProjectDomains(other, domainsOf(early)));
    expect(await changes.take()).toEqual({ slugs: [early.project_slug], isAll: false });
  });
  expect(await changes.take()).toEqual({ slugs: [late.project_slug], isAll: false });
  expect(await changes.take()).toEqual({ slugs: [], isAll: false });
});

it('all rows have to be compared if more changed than one list holds', async () => {
  await db.query('delete from project_route_changes');
  const changes = createRowChanges(db, { changes_max: 2 });
  const change = async () => {
    const project = await makeProject(db);
    await db.transaction((tx) => updateProjectDomains(tx, domainsOf(project)));
  };
  await changes.take();
  await change();
  expect(await changes.take()).toMatchObject({ isAll: false });
  for (let more = 0; more < 3; more += 1) await change();
  expect(await changes.take()).toMatchObject({ isAll: true });
});
