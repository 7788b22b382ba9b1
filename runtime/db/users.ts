// Table users: people of the dashboard, created at their first login. Spec: Authentication, Credentials.
import type { Queryable, Transaction } from './client.ts';
import type { OrganizationRow } from './organizations.ts';
import { prepared } from './prepared-statements.ts';
import { onlyRow, prefixedColumns, splitRow } from './rows.ts';

export type UserRow = {
  user_id: string;
  subject: string;
  organization_id: string;
  role: 'owner';
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  name: string | null;
  created_at: Date;
  updated_at: Date;
};

export type NewUser = Pick<
  UserRow,
  'user_id' | 'subject' | 'organization_id' | 'email' | 'first_name' | 'last_name' | 'name'
>;

/** A user's own columns, as the organization has some of the same names. */
const USER_COLUMNS = [
  'user_id',
  'subject',
  'organization_id',
  'role',
  'email',
  'first_name',
  'last_name',
  'name',
  'created_at',
  'updated_at',
] as const satisfies (keyof UserRow)[];

const BY_SUBJECT = prepared(
  `select o.*, ${prefixedColumns('u', USER_COLUMNS)}
   from users u join organizations o on o.organization_id = u.organization_id where u.subject = $1`,
);

/** A user and the organization, in one query: every call from the dashboard needs both. */
export async function findAccount(
  db: Queryable,
  subject: string,
): Promise<{ user: UserRow; organization: OrganizationRow } | undefined> {
  const [row] = await db.query<object>(BY_SUBJECT, [subject]);
  if (row === undefined) return undefined;
  const { apart: user, rest: organization } = splitRow<UserRow, OrganizationRow>(row, 'u');
  return { user, organization };
}

/**
 * Serializes first logins of one subject until the transaction ends: the second finds the user when
 * it looks again, and creates no second organization.
 */
export async function lockFirstLogin(tx: Transaction, subject: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('first-login:' || $1, 0))`, [
    subject,
  ]);
}

export async function insertUser(tx: Transaction, user: NewUser): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(
    `insert into users (user_id, subject, organization_id, email, first_name, last_name, name)
     values ($1, $2, $3, $4, $5, $6, $7) returning *`,
    [
      user.user_id,
      user.subject,
      user.organization_id,
      user.email,
      user.first_name,
      user.last_name,
      user.name,
    ],
  );
  return onlyRow(row);
}
