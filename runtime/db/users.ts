// Table users: people of the dashboard, made at their first login. Spec: Authentication, Credentials.
import type { Queryable, Transaction } from './client.ts';
import { onlyRow } from './rows.ts';

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

export async function findUserBySubject(
  db: Queryable,
  subject: string,
): Promise<UserRow | undefined> {
  const rows = await db.query<UserRow>('select * from users where subject = $1', [subject]);
  return rows[0];
}

/**
 * Makes first logins of one subject take turns until the transaction ends: whoever comes second finds the user when
 * looking again, and makes no second organization.
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
