/** The audit log, as staff read it: who did what. Ours. Spec: Staff (all require Staff). */
import { z } from 'zod';
import { askedTime, oneOf, pageQuery, plainText, requestQuery, timestamp } from './wire.ts';

/** Every kind of actor. */
const actorKinds = ['user', 'staff', 'key', 'library_session', 'operator', 'system'] as const;

/** One entry. */
export const auditEntryRecord = z.object({
  audit_id: z.int(),
  organization_id: z.string().nullable(),
  project_slug: z.string().nullable(),
  actor_kind: z.enum(actorKinds),
  actor_id: z.string().nullable(),
  action: z.string(),
  target: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  request_id: z.string().nullable(),
  created_at: timestamp,
});

/** An entry on the wire. */
export type AuditEntryRecord = z.infer<typeof auditEntryRecord>;

/** Query of the log; `since` is inclusive, `until` is exclusive. */
export const listAuditQuery = requestQuery({
  organization_id: plainText('the id of an organization').optional(),
  project_slug: plainText('a project slug').optional(),
  actor_kind: oneOf(actorKinds).optional(),
  actor_id: plainText('a subject, the id of a key or the UID of a resource').optional(),
  action: plainText('an action such as file.block').optional(),
  target: plainText('an id or a slug').optional(),
  request_id: plainText('the id of a request').optional(),
  since: askedTime.optional(),
  until: askedTime.optional(),
  ...pageQuery,
});
