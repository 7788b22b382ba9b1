// Spec: Project (custom_domains).
import { expect, it } from 'vitest';
import { createRowChanges } from '../../../operator/routes/row-changes.ts';
import { updateProjectDomains } from '../../../runtime/db/project-domains.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();

it('a change that took its number before another and is committed after it is still seen, each once', async () => {
  const [early, late] = [await makeProject(db), await makeProject(db)];
  const domainsOf = ({ project_id, project_slug }: typeof early) => ({
    project_id,
    domains: [`img.${project_slug}.example`],
  });
  const changes = createRowChanges(db);
  expect(await changes.take()).toEqual({ project_ids: [], isAll: true });
  await db.transaction(async (tx) => {
    await updateProjectDomains(tx, domainsOf(late));
    await db.transaction((other) => updateProjectDomains(other, domainsOf(early)));
    expect(await changes.take()).toEqual({ project_ids: [early.project_id], isAll: false });
  });
  expect(await changes.take()).toEqual({ project_ids: [late.project_id], isAll: false });
  expect(await changes.take()).toEqual({ project_ids: [], isAll: false });
});
