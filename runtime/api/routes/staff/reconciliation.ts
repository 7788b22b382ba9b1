/** Spec: Endpoints, Staff (reconciliation). */
import { reconcileDays } from '../../../actions/reconcile-days.ts';
import { ServiceError } from '../../../core/errors.ts';
import { differenceCauses } from '../../../core/reconciliation.ts';
import {
  type ReconciledDayRecord,
  reconciliationQuery,
} from '../../../core/resources/reconciliation.ts';
import type { Queryable } from '../../../db/client.ts';
import { findDatabaseTime } from '../../../db/database-time.ts';
import { findProjectBySlug } from '../../../db/projects.ts';
import { endpoint } from '../../endpoint.ts';

export const getStaffReconciliation = endpoint({
  method: 'GET',
  path: '/v1/staff/reconciliation',
  auth: ['staff'],
  ok: 200,
  query: reconciliationQuery,
  handle: async ({ deps, query: { project_slug } }) => {
    const project_id = await findProjectId(deps.db, project_slug);
    const now = await findDatabaseTime(deps.db);
    const days = await reconcileDays(deps.db, { project_id, now });
    const items = days.map(({ differences, ...day }): ReconciledDayRecord => {
      const advised = differences.map((one) => ({ ...one, advice: differenceCauses[one.cause] }));
      return { ...day, differences: advised };
    });
    return { items, next_cursor: null };
  },
});

/** Null: every project. */
async function findProjectId(db: Queryable, slug: string | undefined): Promise<string | null> {
  if (slug === undefined) return null;
  const project = await findProjectBySlug(db, slug);
  if (project === undefined) throw new ServiceError('not_found');
  return project.project_id;
}
