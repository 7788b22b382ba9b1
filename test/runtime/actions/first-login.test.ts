import { describe, expect, it } from 'vitest';
import { type DisplayFacts, firstLogin } from '../../../runtime/actions/first-login.ts';
import { defaultPlans } from '../../../runtime/core/plans.ts';
import { fixedClock } from '../../../runtime/platform/clock.ts';
import { auditEntries } from '../../support/audit-entries.ts';
import { useDatabase } from '../../support/database.ts';

const { db } = useDatabase({ maxConnections: 12 });
const deps = { db, clock: fixedClock(new Date('2026-11-20T12:00:00Z')), plans: defaultPlans };
const nobody: DisplayFacts = {
  email: undefined,
  first_name: undefined,
  last_name: undefined,
  name: undefined,
};

function login(subject: string, display: Partial<DisplayFacts> = {}) {
  const actor = { actor_kind: 'user', actor_id: subject, request_id: `of-${subject}` } as const;
  return firstLogin(deps, { subject, display: { ...nobody, ...display }, actor });
}

async function count(table: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(`select count(*) from ${table}`);
  return row?.count ?? -1;
}

describe('the first login of a subject', () => {
  it('creates a user, an organization and its trial credits', async () => {
    const { user, organization } = await login('first', { name: 'Ada', email: 'ada@example.com' });
    expect(user).toMatchObject({
      subject: 'first',
      role: 'owner',
      name: 'Ada',
      email: 'ada@example.com',
    });
    expect(user.organization_id).toBe(organization.organization_id);
    expect(organization).toMatchObject({ name: 'Ada', plan: 'trial', credit_balance: 1000 });
    const grants = await db.query(
      'select source, credits, external_id from credit_grants where organization_id = $1',
      [organization.organization_id],
    );
    const { organization_id: external_id } = organization;
    expect(grants).toEqual([{ source: 'trial', credits: 1000, external_id }]);
  });
  it('is recorded in the audit log once, with the subject as the actor', async () => {
    const { organization } = await login('audited', { name: 'Ada' });
    await login('audited');
    expect(await auditEntries(db, organization, '%')).toEqual([
      {
        action: 'organization.create',
        actor_kind: 'user',
        actor_id: 'audited',
        target: organization.organization_id,
        before: null,
        after: { name: 'Ada' },
        request_id: 'of-audited',
      },
    ]);
  });
  it('creates the account for good: later logins return it and change nothing', async () => {
    const first = await login('again', { name: 'Ada' });
    const later = await login('again', { name: 'Somebody Else', email: 'else@example.com' });
    expect(later).toEqual(first);
  });
  it('happens once for many concurrent requests', async () => {
    const before = [
      await count('organizations'),
      await count('users'),
      await count('credit_grants'),
    ];
    const accounts = await Promise.all(Array.from({ length: 24 }, () => login('crowd')));
    expect(new Set(accounts.map(({ user }) => user.user_id)).size).toBe(1);
    expect(new Set(accounts.map(({ organization }) => organization.organization_id)).size).toBe(1);
    expect(accounts.every(({ organization }) => organization.credit_balance === 1000)).toBe(true);
    const after = [
      await count('organizations'),
      await count('users'),
      await count('credit_grants'),
    ];
    expect(after).toEqual(before.map((value) => value + 1));
  });
  it('gives each subject an organization of its own', async () => {
    const [one, two] = [await login('one'), await login('two')];
    expect(one.organization.organization_id).not.toBe(two.organization.organization_id);
  });
});

describe('the display headers', () => {
  it('are cleaned before they are stored', async () => {
    const { user } = await login('spoof', {
      name: ' A\u202Eda\u0000 ',
      first_name: 'x'.repeat(300),
      last_name: ' \t ',
      email: `${'x'.repeat(300)}@example.com`,
    });
    expect(user).toMatchObject({ name: 'Ada', last_name: null, email: null });
    expect(user.first_name).toHaveLength(120);
  });
  it('name the organization by full name, else by email, else by subject', async () => {
    const nameOf = async (subject: string, display: Partial<DisplayFacts>) =>
      (await login(subject, display)).organization.name;
    expect(await nameOf('n1', { first_name: 'Ada', last_name: 'Lovelace', email: 'a@b.c' })).toBe(
      'Ada Lovelace',
    );
    expect(await nameOf('n2', { email: 'a@b.c' })).toBe('a@b.c');
    expect(await nameOf('n3', {})).toBe('n3');
  });

  it('leave the name to the cleaned and cut subject if absent, and to the user id if that is empty', async () => {
    const nameOf = async (subject: string) => (await login(subject)).organization.name;
    const cut = `${'n'.repeat(119)}😀`;
    expect(await nameOf(`${cut}4`)).toBe(cut);
    expect(await nameOf('n\u202e5')).toBe('n5');
    expect(await nameOf('\u200e')).toMatch(/^usr_/);
  });
});
