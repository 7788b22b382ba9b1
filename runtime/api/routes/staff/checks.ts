/** Spec: Endpoints, Staff (checks). */
import { reviewCheck } from '../../../actions/review-check.ts';
import { ServiceError } from '../../../core/errors.ts';
import { listChecksQuery, reviewCheckBody } from '../../../core/resources/scanner-check.ts';
import { insertAuditEntry } from '../../../db/audit-log.ts';
import { findCheck, listChecks, listReviews } from '../../../db/scanner-checks.ts';
import { auditActor } from '../../audit-actor.ts';
import { requireDashPrincipal } from '../../auth/principal.ts';
import { endpoint } from '../../endpoint.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentCheck, presentReview } from '../../present/scanner-check.ts';

/** Audited with the ids of the page, so that it can be told later who looked at which images. */
export const listStaffChecks = endpoint({
  method: 'GET',
  path: '/v1/staff/checks',
  auth: ['staff'],
  ok: 200,
  query: listChecksQuery,
  handle: async ({ deps, principal, query, request_id }) => {
    const { status = null, review = null, flag = null, project_slug = null } = query;
    const filters = { status, review, flag, project_slug };
    const page = await listPage(deps, {
      query,
      route: '/v1/staff/checks',
      owner: EVERYBODY,
      filters,
      find: (wanted) => listChecks(deps.db, { ...wanted, ...filters }),
      present: presentCheck,
    });
    const actor = auditActor({ principal, request_id });
    const check_ids = page.items.map((item) => item.check_id);
    await insertAuditEntry(deps.db, { ...actor, action: 'check.list', after: { check_ids } });
    return page;
  },
});

export const getStaffCheck = endpoint({
  method: 'GET',
  path: '/v1/staff/checks/{id}',
  auth: ['staff'],
  ok: 200,
  handle: async ({ deps, params }) => {
    const check = await findCheck(deps.db, params['id'] ?? '');
    if (check === undefined) throw new ServiceError('not_found');
    const reviews = await listReviews(deps.db, check.check_id);
    return { ...presentCheck(check), reviews: reviews.map(presentReview) };
  },
});

export const reviewStaffCheck = endpoint({
  method: 'POST',
  path: '/v1/staff/checks/{id}/review',
  auth: ['staff'],
  ok: 200,
  effect: 'once',
  errors: ['check_not_flagged'],
  body: reviewCheckBody,
  handle: ({ deps, principal, params, body, request_id }) => {
    const { decision, note = null } = body;
    const actor = auditActor({ principal, request_id });
    const reviewer = requireDashPrincipal(principal).subject;
    const review = { check_id: params['id'] ?? '', decision, note, reviewer, actor };
    return deps.db.transaction(async (tx) => {
      const check = await reviewCheck(tx, { ...review, now: deps.clock.now() });
      const reviews = await listReviews(tx, check.check_id);
      return { ...presentCheck(check), reviews: reviews.map(presentReview) };
    });
  },
});
