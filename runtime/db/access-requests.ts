// Table access_requests: who asked for access on the marketing site. Spec: Public, access-requests; Staff.
import type { Queryable } from './client.ts';
import { keysetValues, type Page, type PageQuery, pageOf } from './keyset.ts';

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

/** Newest first; of one status, or of all with null. */
export async function listAccessRequests(
  db: Queryable,
  query: PageQuery & { status: string | null },
): Promise<Page<AccessRequestRow>> {
  const rows = await db.query<AccessRequestRow>(
    `select * from access_requests
     where ($1::text is null or status = $1)
       and ($2::timestamptz is null or (created_at, access_request_id) < ($2, $3))
     order by created_at desc, access_request_id desc limit $4`,
    [query.status, ...keysetValues(query)],
  );
  return pageOf(rows, query.limit, (row) => row.access_request_id);
}
