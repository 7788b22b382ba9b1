import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../runtime/core/ids.ts';
import { deleteOldAuditEntries, insertAuditEntry } from '../../../runtime/db/audit-log.ts';
import type { Transaction } from '../../../runtime/db/client.ts';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import {
  insertExemption,
  listExemptions,
  updateExemptionEnd,
} from '../../../runtime/db/organization-exemptions.ts';
import {
  findOrganization,
  findOrganizationByNamespace,
  insertOrganization,
  updateOverQuota,
  updateWithinQuota,
} from '../../../runtime/db/organizations.ts';
import { updateProjectDomains } from '../../../runtime/db/project-domains.ts';
import { insertPricing, listPricing } from '../../../runtime/db/project-pricing.ts';
import {
  findProject,
  findProjectByOwner,
  findProjectBySlug,
  insertProject,
  listProjects,
  lockProject,
  updateProject,
  updateProjectGeneration,
} from '../../../runtime/db/projects.ts';
import {
  deleteRecipe,
  findRecipe,
  listRecipes,
  upsertRecipe,
} from '../../../runtime/db/recipes.ts';
import { insertSigningKey } from '../../../runtime/db/signing-keys.ts';
import { findAccount, insertUser, lockFirstLogin } from '../../../runtime/db/users.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeOrganization, makeProject, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20 });
const PAUSE_MS = 200;

/** Pauses after each delete, so that a concurrent transaction reaches the same point. */
function pausingAfterDelete(tx: Transaction): Transaction {
  return {
    query: async <Row>(text: string, values?: readonly unknown[]) => {
      const rows = await tx.query<Row>(text, values);
      if (text.startsWith('delete')) await sleep(PAUSE_MS);
      return rows;
    },
  };
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a first login', () => {
  it('creates one user and one organization for many concurrent requests', async () => {
    const subject = id('usr');
    const count = async () => (await db.query('select 1 from organizations')).length;
    const before = await count();
    const logIn = () =>
      db.transaction(async (tx) => {
        await lockFirstLogin(tx, subject);
        const known = await findAccount(tx, subject);
        if (known !== undefined) return known.user;
        const { organization_id } = await makeOrganization(tx);
        await insertCreditGrant(tx, {
          organization_id,
          credits: 1000,
          source: 'trial',
          external_id: organization_id,
        });
        const names = { email: 'a@b.example', first_name: null, last_name: null, name: 'A' };
        return insertUser(tx, { user_id: id('usr'), subject, organization_id, ...names });
      });
    const users = await Promise.all(times(20).map(logIn));
    expect(new Set(users.map((user) => user.user_id)).size).toBe(1);
    expect(await count()).toBe(before + 1);
    const organization = await findOrganization(db, must(users[0]).organization_id);
    expect(organization?.credit_balance).toBe(1000);
  });
});

describe('an organization', () => {
  it('of a namespace is created once by concurrent callers', async () => {
    const make = () =>
      insertOrganization(db, {
        organization_id: id('org'),
        name: 'shop',
        plan: 'trial',
        namespace: 'shop',
      });
    const made = (await Promise.all(times(5).map(make))).filter((row) => row !== undefined);
    expect(made).toHaveLength(1);
    expect(await findOrganizationByNamespace(db, 'shop')).toEqual(made[0]);
  });

  it('goes over quota and back once each, and never while exempt', async () => {
    const { organization_id } = await makeOrganization(db);
    expect(await updateOverQuota(db, organization_id)).toBeDefined();
    expect(await updateOverQuota(db, organization_id)).toBeUndefined();
    const exempt = must(await insertExemption(db, organization_id));
    expect(exempt).toMatchObject({ billing_exempt: true, quota_exceeded_at: null });
    expect(await insertExemption(db, organization_id)).toBeUndefined();
    expect(await updateOverQuota(db, organization_id)).toBeUndefined();
    const ended = must(await updateExemptionEnd(db, organization_id));
    expect(ended.billing_exempt_until).toBeInstanceOf(Date);
    expect(await updateExemptionEnd(db, organization_id)).toBeUndefined();
    const [interval] = await listExemptions(db, [organization_id]);
    expect(interval?.until).toEqual(ended.billing_exempt_until);
    expect(await updateOverQuota(db, organization_id)).toBeDefined();
    expect(await updateWithinQuota(db, organization_id)).toBeDefined();
    expect(await updateWithinQuota(db, organization_id)).toBeUndefined();
  });

  it('is granted credits once per source and external id', async () => {
    const { organization_id } = await makeOrganization(db);
    const grant = () =>
      insertCreditGrant(db, {
        organization_id,
        credits: 50,
        source: 'provider_b',
        external_id: 'e',
      });
    const granted = await Promise.all(times(10).map(grant));
    expect(granted.filter((row) => row !== undefined)).toHaveLength(1);
    expect((await findOrganization(db, organization_id))?.credit_balance).toBe(50);
  });
});

describe('a project', () => {
  it('has a unique slug: of concurrent creations one succeeds', async () => {
    const { organization_id } = await makeOrganization(db);
    const make = () =>
      insertProject(db, {
        project_id: id('prj'),
        organization_id,
        project_slug: 'taken',
        name: 'Taken',
      });
    const made = (await Promise.all(times(8).map(make))).filter((row) => row !== undefined);
    expect(made).toHaveLength(1);
    expect((await findProjectBySlug(db, 'taken'))?.project_id).toBe(made[0]?.project_id);
  });

  it('is read with its domains, signing key, pricing and plan', async () => {
    const project = await makeProject(db, { resolution_presets: { thumb: 'resize/1x1' } });
    const { project_id } = project;
    expect(project).toMatchObject({
      resolution_presets: { thumb: 'resize/1x1' },
      custom_domains: [],
      active_signing_kid: null,
      pricing_multiplier: '1',
      plan: 'trial',
    });
    const kid = id('kid');
    await insertSigningKey(db, { kid, project_id, secret_sealed: Buffer.from('x') });
    const domains = ['img.a.example', 'cdn.a.example'];
    await db.transaction((tx) => updateProjectDomains(tx, { project_id, domains }));
    const from = (hour: string) => new Date(`2026-01-01T${hour}:00:00Z`);
    await insertPricing(db, { project_id, effective_from: from('11'), pricing_multiplier: '9' });
    await insertPricing(db, { project_id, effective_from: from('11'), pricing_multiplier: '1.5' });
    await insertPricing(db, { project_id, effective_from: from('10'), pricing_multiplier: '2' });
    const read = must(await findProject(db, project_id));
    expect(read).toMatchObject({ project_id, custom_domains: domains, active_signing_kid: kid });
    expect(Number(read.pricing_multiplier)).toBe(1.5);
    expect((await listPricing(db, [project_id])).map((row) => row.effective_from)).toEqual([
      from('10'),
      from('11'),
    ]);
    await db.transaction((tx) => updateProjectDomains(tx, { project_id, domains: [] }));
    expect((await findProject(db, project_id))?.custom_domains).toEqual([]);
  });

  it('cannot exchange domains with another one concurrently: both fail without a deadlock', async () => {
    const projects = [await makeProject(db), await makeProject(db)];
    const domains = ['one.exchanged.example', 'two.exchanged.example'];
    const give = (tx: Transaction, at: number, of: number) => {
      const { project_id } = must(projects[at]);
      return updateProjectDomains(tx, { project_id, domains: [must(domains[of])] });
    };
    for (const at of [0, 1]) await db.transaction((tx) => give(tx, at, at));
    let runs = 0;
    const exchanges = [0, 1].map((at) =>
      db.transaction((tx) => {
        runs += 1;
        return give(pausingAfterDelete(tx), at, 1 - at);
      }),
    );
    const taken = { status: 'rejected', reason: { constraint: 'project_domains_pkey' } };
    expect(await Promise.allSettled(exchanges)).toMatchObject([taken, taken]);
    // A deadlock would abort one of the transactions, which then runs again.
    expect(runs).toBe(2);
  });

  it('gets a new version with each change, even if none of its own columns changes', async () => {
    const { project_id, version } = await makeProject(db);
    const renamed = await updateProject(db, { project_id, changes: { name: 'a' } });
    expect(renamed).toMatchObject({ name: 'a', version: version + 1 });
    expect((await updateProject(db, { project_id, changes: {} }))?.version).toBe(version + 2);
    const changes = { resolution_presets: {}, storage_hard_limit_bytes: null };
    const cleared = await updateProject(db, { project_id, changes });
    expect(cleared).toMatchObject({ ...changes, name: 'a', version: version + 3 });
    expect(await updateProject(db, { project_id: newId('prj', 0), changes })).toBeUndefined();
  });

  it('is locked by one transaction at a time, which sees what the previous one wrote', async () => {
    const { project_id } = await makeProject(db);
    const raise = () =>
      db.transaction(async (tx) => {
        const { generation } = must(await lockProject(tx, project_id));
        await updateProjectGeneration(tx, project_id);
        return generation;
      });
    const seen = await Promise.all(times(10).map(raise));
    expect(seen.sort((a, b) => a - b)).toEqual(times(10).map((index) => index + 1));
  });

  it('is found by its owner and listed by its organization, newest first', async () => {
    const { organization_id } = await makeOrganization(db);
    const owner = { owner_uid: 'uid-p', owner_namespace: 'shop', owner_name: 'shop' };
    const owned = await makeProject(db, {
      organization_id,
      ...owner,
      owner_deletion_policy: 'retain',
    });
    expect((await findProjectByOwner(db, 'uid-p'))?.project_id).toBe(owned.project_id);
    const second = await makeProject(db, { organization_id });
    await db.query(`update projects set created_at = now() where organization_id = $1`, [
      organization_id,
    ]);
    const first = await listProjects(db, { organization_id, limit: 1, after: null });
    expect(first.rows.map((row) => row.project_id)).toEqual([second.project_id]);
    const rest = await listProjects(db, { organization_id, limit: 1, after: first.next });
    expect(rest.rows.map((row) => row.project_id)).toEqual([owned.project_id]);
    expect(rest.next).toBeNull();
    const foreign = await makeProject(db);
    const all = await listProjects(db, { organization_id: null, limit: 100, after: null });
    expect(all.rows.map((row) => row.project_id)).toEqual(
      expect.arrayContaining([foreign, second, owned].map(({ project_id }) => project_id)),
    );
    expect(await findProject(db, 'prj_none')).toBeUndefined();
  });
});

describe('recipes', () => {
  it('are created, replaced and deleted only within their own project', async () => {
    const { project_id } = await makeProject(db);
    const foreign = await makeProject(db);
    const recipe = {
      recipe_id: id('rcp'),
      project_id,
      name: 'hero',
      transform_chain: 'resize/1x1',
      schema_version: 1,
    };
    expect((await upsertRecipe(db, recipe))?.outcome).toBe('created');
    const replaced = await upsertRecipe(db, { ...recipe, transform_chain: 'resize/2x2' });
    expect(replaced).toMatchObject({ outcome: 'replaced', row: { transform_chain: 'resize/2x2' } });
    expect(
      await upsertRecipe(db, { ...recipe, project_id: foreign.project_id, name: 'other' }),
    ).toBeUndefined();
    expect(await findRecipe(db, recipe)).toEqual(replaced?.row);
    expect(await listRecipes(db, project_id)).toHaveLength(1);
    expect(await deleteRecipe(db, { ...recipe, project_id: foreign.project_id })).toBe(false);
    expect(await deleteRecipe(db, recipe)).toBe(true);
    expect(await deleteRecipe(db, recipe)).toBe(false);
  });
});

describe('the audit log', () => {
  it('keeps entries until they are old', async () => {
    const { project_id } = await makeProject(db);
    await insertAuditEntry(db, {
      project_id,
      actor_kind: 'system',
      action: 'test',
      after: { a: 1 },
    });
    expect(await deleteOldAuditEntries(db, 3600)).toBe(0);
    expect(await deleteOldAuditEntries(db, -1)).toBe(1);
  });
});
