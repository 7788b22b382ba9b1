/** A scanner check and its reviews as the API answers them. Spec: Staff, checks. */
import type { CheckRecord, ReviewRecord } from '../../core/resources/scanner-check.ts';
import type { CheckRow, ReviewRow } from '../../db/scanner-checks.ts';

export function presentCheck(row: CheckRow): CheckRecord {
  return {
    check_id: row.check_id,
    project_slug: row.project_slug,
    file_id: row.file_id,
    file_slug: row.file_slug,
    revision: row.revision,
    status: row.status,
    review: row.review,
    flags: row.flags,
    scores: row.scores,
    scanned_at: row.scanned_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function presentReview(row: ReviewRow): ReviewRecord {
  const { review_id, decision, note, reviewer, created_at } = row;
  return { review_id, decision, note, reviewer, created_at: created_at.toISOString() };
}
