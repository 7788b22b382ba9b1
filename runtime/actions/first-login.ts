/**
 * The account behind a dashboard session. A subject's first login creates its user, its organization and the trial
 * credits in one transaction, and only once, however many requests arrive together. Spec: Identity and organizations;
 * Credentials (IdentityUserId).
 */
import { newId } from '../core/ids.ts';
import { EMAIL_LENGTH_MAX, NAME_LENGTH_MAX } from '../core/limits.ts';
import type { Plans } from '../core/plans.ts';
import { cleanText } from '../core/text.ts';
import type { Actor } from '../db/audit-log.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import type { OrganizationRow } from '../db/organizations.ts';
import { onlyRow } from '../db/rows.ts';
import { findAccount, insertUser, lockFirstLogin, type UserRow } from '../db/users.ts';
import type { Clock } from '../platform/clock.ts';
import { insertTrialOrganization } from './insert-organization.ts';

/** Personal data from the identity headers: for display, never for a decision. */
export type DisplayFacts = {
  readonly email: string | undefined;
  readonly first_name: string | undefined;
  readonly last_name: string | undefined;
  readonly name: string | undefined;
};

export type Account = { readonly user: UserRow; readonly organization: OrganizationRow };

type Login = { subject: string; display: DisplayFacts; actor: Actor };

export async function firstLogin(
  deps: { db: Database; clock: Clock; plans: Plans },
  login: Login,
): Promise<Account> {
  const find = (db: Queryable) => findAccount(db, login.subject);
  const found = await find(deps.db);
  if (found !== undefined) return found;
  return deps.db.transaction((tx) => insertAccount(tx, deps, login), { settle: find });
}

async function insertAccount(
  tx: Transaction,
  deps: { clock: Clock; plans: Plans },
  { subject, display, actor }: Login,
): Promise<Account> {
  await lockFirstLogin(tx, subject);
  const winner = await findAccount(tx, subject);
  if (winner !== undefined) return winner;
  const facts = cleanFacts(display);
  const user_id = newId('usr', deps.clock.now().getTime());
  const name = organizationName(facts) ?? cleanText(subject, NAME_LENGTH_MAX) ?? user_id;
  const organization = onlyRow(await insertTrialOrganization(tx, deps, { name, actor }));
  const { organization_id } = organization;
  const user = await insertUser(tx, { user_id, subject, organization_id, ...facts });
  return { user, organization };
}

type CleanFacts = { readonly [Name in keyof DisplayFacts]: string | null };

function cleanFacts({ email, first_name, last_name, name }: DisplayFacts): CleanFacts {
  const isEmail = email !== undefined && email.length <= EMAIL_LENGTH_MAX;
  return {
    email: isEmail ? cleanText(email, EMAIL_LENGTH_MAX) : null,
    first_name: cleanText(first_name ?? '', NAME_LENGTH_MAX),
    last_name: cleanText(last_name ?? '', NAME_LENGTH_MAX),
    name: cleanText(name ?? '', NAME_LENGTH_MAX),
  };
}

function organizationName({ name, first_name, last_name, email }: CleanFacts): string | null {
  const parts = [first_name, last_name].filter((part) => part !== null).join(' ');
  return name ?? (cleanText(parts, NAME_LENGTH_MAX) || cleanText(email ?? '', NAME_LENGTH_MAX));
}
