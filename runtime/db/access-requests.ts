// Table access_requests: who asked for access on the marketing site. Spec: Public, access-requests; Staff.
import type { Queryable } from './client.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';

export type AccessRequestRow = {
  access_request_id: string;
  email: string;
  name: string | null;
  company: string | null;
  url: string | null;
  message: string | null;
  use_case: string | null;
  plan_interest: 'starter' | 'builder' | 'growth' | 'unsure' | null;
  locale: string | null;
  status: string;
  created_at: Date;
};

export type NewAccessRequest = Omit<AccessRequestRow, 'status' | 'created_at'>;

export async function insertAccessRequest(db: Queryable, row: NewAccessRequest): Promise<void> {
  await db.query(
    `insert into access_requests (access_request_id, email, name, company, url, message, use_case,
       plan_interest, locale)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.access_request_id,
      row.email,
      row.name,
      row.company,
      row.url,
      row.message,
      row.use_case,
      row.plan_interest,
      row.locale,
    ],
  );
}

/** Newest first; with one status, or all if null. */
export function listAccessRequests(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { status: string | null },
): Promise<Page<AccessRequestRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<AccessRequestRow, 'status'> = {
  select: 'select * from access_requests',
  conditions: { status: (value) => `status = ${value}` },
  order: ['created_at', 'access_request_id'],
  idOf: (row) => row.access_request_id,
};
