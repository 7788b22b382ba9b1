/** Spec: Endpoints, Staff (files, moderation-notes). */
import { blockFile, unblockFile } from '../../../actions/block-file.ts';
import { approveChecks } from '../../../actions/review-check.ts';
import { ServiceError } from '../../../core/errors.ts';
import {
  blockFileBody,
  listModerationNotesQuery,
  unblockFileBody,
} from '../../../core/resources/scanner-check.ts';
import type { Transaction } from '../../../db/client.ts';
import type { FileRow } from '../../../db/files.ts';
import { listModerationNotes } from '../../../db/moderation-notes.ts';
import { findProject } from '../../../db/projects.ts';
import { auditActor } from '../../audit-actor.ts';
import { requireDashPrincipal } from '../../auth/principal.ts';
import type { ApiDeps } from '../../deps.ts';
import { endpoint } from '../../endpoint.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentFile } from '../../present/file.ts';
import { presentModerationNote } from '../../present/moderation-note.ts';

export const blockStaffFile = endpoint({
  method: 'POST',
  path: '/v1/staff/files/{fileId}/block',
  auth: ['staff'],
  ok: 200,
  effect: 'once',
  errors: ['file_not_found'],
  body: blockFileBody,
  handle: ({ deps, principal, params, body: { reason }, request_id }) => {
    const actor = auditActor({ principal, request_id });
    const file_id = params['fileId'] ?? '';
    return deps.db.transaction(async (tx) => {
      const file = await blockFile(tx, { file_id, blocked_by: 'staff', reason, actor });
      return present(tx, deps, file);
    });
  },
});

export const unblockStaffFile = endpoint({
  method: 'POST',
  path: '/v1/staff/files/{fileId}/unblock',
  auth: ['staff'],
  ok: 200,
  effect: 'once',
  errors: ['file_not_found'],
  body: unblockFileBody,
  handle: ({ deps, principal, params, body, request_id }) => {
    const actor = auditActor({ principal, request_id });
    const file_id = params['fileId'] ?? '';
    const now = deps.clock.now();
    const reviewer = requireDashPrincipal(principal).subject;
    const note = body?.note ?? null;
    return deps.db.transaction(async (tx) => {
      const file = await unblockFile(tx, { file_id, actor, note });
      const record = await present(tx, deps, file);
      await approveChecks(tx, { file_id, note, reviewer, actor, now });
      return record;
    });
  },
});

export const listStaffModerationNotes = endpoint({
  method: 'GET',
  path: '/v1/staff/moderation-notes',
  auth: ['staff'],
  ok: 200,
  query: listModerationNotesQuery,
  handle: async ({ deps, query }) => {
    const { project_slug = null, file_slug = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/moderation-notes',
      owner: EVERYBODY,
      filters: { project_slug, file_slug },
      find: (page) => listModerationNotes(deps.db, { ...page, project_slug, file_slug }),
      present: (row) => presentModerationNote(row, row.project_slug),
    });
  },
});

async function present(tx: Transaction, { settings }: ApiDeps, file: FileRow | undefined) {
  const project = file && (await findProject(tx, file.project_id));
  if (file === undefined || project === undefined) throw new ServiceError('file_not_found');
  return presentFile(file, project.project_slug, settings);
}
