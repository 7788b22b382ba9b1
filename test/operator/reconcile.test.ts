import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { identify } from '../../operator/files/check-document.ts';
import { reconcileProject } from '../../operator/project/reconcile.ts';
import type { Context } from '../../operator/reconcile.ts';
import { printDifference } from '../../operator/row-difference.ts';
import { changeProject } from '../../runtime/actions/change-project.ts';
import { statusChange } from '../../runtime/actions/status-change.ts';
import { suspendProject } from '../../runtime/actions/suspend-project.ts';
import type { ProjectStatus } from '../../runtime/core/states.ts';
import type { Database } from '../../runtime/db/client.ts';
import { findFileById, updateFileBlocked } from '../../runtime/db/files.ts';
import { listPricing } from '../../runtime/db/project-pricing.ts';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { useDatabase } from '../support/database.ts';
import { type DatabaseClock, takeDatabaseClock } from '../support/database-clock.ts';
import { makeCheck, makeFile, makeOrganization, makeProject, must } from '../support/rows.ts';

const { db, url } = useDatabase();
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await takeDatabaseClock(url(), db);
});

const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

async function contextOf(settings: Partial<Context> = {}): Promise<Context> {
  const { organization_id } = await makeOrganization(db);
  return {
    db,
    sealing,
    organization_id,
    clock: systemClock,
    delivery_root_domain: undefined,
    findUid: () => undefined,
    findDeclared: () => undefined,
    isBeingDeleted: () => false,
    isGone: () => false,
    writeSecret: async () => undefined,
    ...settings,
  };
}

function declare(name: string, spec: object) {
  const identity = identify({ namespace: 'team', kind: 'Project', name });
  return { action: 'declare' as const, identity, spec };
}

/** The database, with an event between the reads and the writes of a pass. */
function interrupted(event: () => Promise<unknown>): Database {
  return {
    ...db,
    transaction: async (work, options) => {
      await event();
      return db.transaction(work, options);
    },
  };
}

function newSlug(): string {
  return `p${randomBytes(5).toString('hex')}`;
}

describe('a pass over one resource', () => {
  it('touches no Secret if the declaration is refused', async () => {
    const slug = newSlug();
    const secrets: string[] = [];
    const context = await contextOf({
      writeSecret: async (name) => void secrets.push(`write ${name}`),
      removeSecrets: async () => void secrets.push('remove'),
    });
    const url = 'https://shop.example/hook';
    await reconcileProject(declare(slug, { callback: { url, secretName: 'hook' } }), context);
    expect(secrets).toEqual(['write hook']);
    for (const callback of [{ url: '' }, { url, secretName: 'other' }]) {
      const { conditions } = await reconcileProject(
        declare(slug, { slug: `${slug}-2`, callback }),
        context,
      );
      expect(conditions).toContainEqual(expect.objectContaining({ reason: 'SlugImmutable' }));
    }
    expect(secrets).toEqual(['write hook']);
  });

  it('sets a price from the hour that it reports, even if the hour turns during the pass', async () => {
    const slug = newSlug();
    const context = await contextOf();
    const input = declare(slug, { staff: { pricingMultiplier: '2' } });
    await clock.set('2126-11-20T10:59:59.999Z');
    const hourTurns = () => clock.set('2126-11-20T11:00:00.001Z');
    const { differences } = await reconcileProject(input, {
      ...context,
      db: interrupted(hourTurns),
    });
    await clock.release();
    const { project_id } = must(await findProjectBySlug(db, slug));
    const [price] = await listPricing(db, [project_id]);
    const reported = differences.find(({ table }) => table === 'project_pricing')?.fields[0];
    expect(reported).toMatchObject({ field: 'effective_from', to: price?.effective_from });
    expect(price?.effective_from).toEqual(new Date('2126-11-20T12:00:00Z'));
  });

  it('reports a price that replaces another of the same hour as a change of that row', async () => {
    const slug = newSlug();
    const context = await contextOf();
    const price = (pricingMultiplier: string) => declare(slug, { staff: { pricingMultiplier } });
    await clock.set('2126-11-20T10:30:00Z');
    await reconcileProject(price('2'), context);
    const { differences } = await reconcileProject(price('3'), context);
    await clock.release();
    expect(differences.map(printDifference)).toEqual([
      `~ project_pricing ${slug} from 2126-11-20T11:00:00.000Z { multiplier: "2.000000" → "3" }`,
    ]);
  });

  it('does not undo a suspension by staff that happened between its read and its write', async () => {
    const slug = newSlug();
    const context = await contextOf();
    await reconcileProject(declare(slug, {}), context);
    const { project_id } = must(await findProjectBySlug(db, slug));
    await updateProject(db, {
      project_id,
      changes: { status: 'suspended', suspended_by: 'owner' },
    });
    const suspendByStaff = () =>
      updateProject(db, { project_id, changes: { suspended_by: 'staff' } });
    const { conditions } = await reconcileProject(declare(slug, { state: 'Active' }), {
      ...context,
      db: interrupted(suspendByStaff),
    });
    expect(conditions[0]?.reason).toBe('SuspendedByStaff');
    expect(await findProjectBySlug(db, slug)).toMatchObject({ suspended_by: 'staff' });
  });

  it('reactivates a project that its deletion suspended, but not one that its owner suspended', async () => {
    const slug = newSlug();
    const context = await contextOf();
    const declared = declare(slug, {});
    const gone = { action: 'delete' as const, identity: declared.identity, spec: undefined };
    const state = async () => must(await findProjectBySlug(db, slug)).status;
    const setState = (status: ProjectStatus) =>
      db.transaction(async (tx) => {
        const project = must(await findProjectBySlug(tx, slug));
        await changeProject(tx, project, statusChange({ by: 'owner', project, status }));
      });
    const comeBack = async () => {
      await reconcileProject(declared, context);
      return state();
    };
    await reconcileProject(declared, context);
    await reconcileProject(gone, context);
    expect(await state()).toBe('suspended');
    expect(await comeBack()).toBe('active');
    await setState('suspended');
    await reconcileProject(gone, context);
    expect(await comeBack()).toBe('suspended');
    await setState('active');
    await reconcileProject(gone, context);
    await setState('active');
    await setState('suspended');
    expect(await comeBack()).toBe('suspended');
    await setState('active');
    await reconcileProject(gone, context);
    await setState('suspended');
    expect(await comeBack(), 'as its owner said meanwhile').toBe('suspended');
    await setState('active');
    await reconcileProject(gone, context);
    await db.transaction(async (tx) => {
      const { project_id } = must(await findProjectBySlug(tx, slug));
      await suspendProject(tx, { project_id, actor: { actor_kind: 'user', actor_id: 'ada' } });
    });
    expect(await comeBack(), 'as its owner deleted it meanwhile').toBe('suspended');
  });

  it('unblocks files that the scanner blocked when nudityAutoBlock is disabled', async () => {
    const slug = newSlug();
    const context = await contextOf();
    const declareSwitch = (nudityAutoBlock: string) =>
      reconcileProject(declare(slug, { staff: { nudityAutoBlock } }), context);
    await declareSwitch('Enabled');
    const { project_id } = must(await findProjectBySlug(db, slug));
    const { file_id } = await makeFile(db, { project_id });
    await makeCheck(db, must(await findFileById(db, file_id)));
    await db.transaction((tx) =>
      updateFileBlocked(tx, { file_id, blocked_by: 'scanner', reason: 'nudity' }),
    );
    await declareSwitch('Disabled');
    expect(must(await findFileById(db, file_id)).status).toBe('ready');
    expect(
      await db.query(
        'select actor_kind, actor_id from audit_log where action = $1 and target = $2',
        ['file.unblock', file_id],
      ),
    ).toEqual([{ actor_kind: 'operator', actor_id: declare(slug, {}).identity.uid }]);
  });

  it('does not take a slug that was taken between its read and its write', async () => {
    const slug = newSlug();
    const context = await contextOf();
    const { conditions, changes } = await reconcileProject(declare(slug, {}), {
      ...context,
      db: interrupted(() => makeProject(db, { project_slug: slug })),
    });
    expect(conditions[0]?.reason).toBe('SlugConflict');
    expect(changes).toEqual([]);
  });

  it('writes all rows of a resource or none', async () => {
    const slug = newSlug();
    const taken = `${slug}.example`;
    const other = await makeProject(db);
    const spec = { displayName: 'Shop', staff: { customDomains: [taken] } };
    const takeDomain = () =>
      db.query('insert into project_domains (domain, project_id, position) values ($1, $2, 1)', [
        taken,
        other.project_id,
      ]);
    const late: Database = {
      ...db,
      transaction: (work, options) =>
        db.transaction(async (tx) => {
          const query: typeof tx.query = async (text, values) => {
            if (text.startsWith('delete from project_domains')) await takeDomain();
            return tx.query(text, values);
          };
          return work({ query });
        }, options),
    };
    const context = await contextOf({ db: late });
    await expect(reconcileProject(declare(slug, spec), context)).rejects.toThrow();
    expect(await findProjectBySlug(db, slug)).toBeUndefined();
  });

  it('hands out the callback secret again if that failed after the rows were written', async () => {
    const slug = newSlug();
    const spec = { callback: { url: 'https://a.example/', secretName: 'hook' } };
    const secrets: string[] = [];
    const context = await contextOf();
    const failing = { ...context, writeSecret: () => Promise.reject(new Error('disk full')) };
    await expect(reconcileProject(declare(slug, spec), failing)).rejects.toThrow('disk full');
    const working = {
      ...context,
      writeSecret: async (_: string, it: string) => void secrets.push(it),
    };
    const { changes } = await reconcileProject(declare(slug, spec), working);
    expect(changes).toEqual([]);
    expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  });

  it('rejects a spec that its schema rejects', async () => {
    const context = await contextOf();
    await expect(reconcileProject(declare(newSlug(), { state: 'Off' }), context)).rejects.toThrow();
  });
});
