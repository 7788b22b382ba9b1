import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { Fenced, openFence, Rewound } from '../../operator/fence.ts';
import { leadFenced } from '../../operator/fenced-term.ts';
import type { Database } from '../../runtime/db/client.ts';
import { listOwnersElsewhere } from '../../runtime/db/declared-rows.ts';
import { insertOrganization } from '../../runtime/db/organizations.ts';
import { updateProject } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { untilWaiting } from '../support/lock-waits.ts';
import { id, makeProject } from '../support/rows.ts';
import { silentLog as log } from './kube/silent-log.ts';

const { db, open, url } = useDatabase();

const lease_uid = 'lease';
const newLease = () => `operators/${id('org')}`;

function write(through: Database, name: string) {
  const organization = { organization_id: id('org'), name, plan: 'trial' };
  return through.transaction((tx) => insertOrganization(tx, organization));
}

const ownedBy = (owner_uid: string) =>
  ({
    ...{ owner_uid, owner_namespace: 'shop', owner_name: 'web' },
    owner_deletion_policy: 'suspend',
  }) as const;

async function isThere(name: string): Promise<boolean> {
  return (await db.query('select from organizations where name = $1', [name])).length === 1;
}

describe('a leader term of the operator', () => {
  it('writes nothing once a later term has begun, and the error names the new leader', async () => {
    const lease = newLease();
    const old = openFence(db, { lease, lease_uid, epoch: 1, holder: 'old' });
    await old.raise();
    await write(old.db, `${lease} before`);
    await openFence(db, { lease, lease_uid, epoch: 2, holder: 'new' }).raise();
    const late = write(old.db, `${lease} late`);
    await expect(late).rejects.toThrow(
      `nothing was written: 'new' leads by ${lease} since term 2, and this is term 1 of 'old'`,
    );
    await expect(late).rejects.toBeInstanceOf(Fenced);
    expect([await isThere(`${lease} before`), await isThere(`${lease} late`)]).toEqual([
      true,
      false,
    ]);
    await expect(old.raise()).rejects.toBeInstanceOf(Fenced);
  });

  it('is fenced off by another term of the same number', async () => {
    const lease = newLease();
    await openFence(db, { lease, lease_uid, epoch: 1, holder: 'one' }).raise();
    const other = openFence(db, { lease, lease_uid, epoch: 1, holder: 'other' });
    await expect(other.raise()).rejects.toBeInstanceOf(Fenced);
    await expect(write(other.db, lease)).rejects.toBeInstanceOf(Fenced);
  });

  it('delays the next term until its open transaction has ended', async () => {
    const lease = newLease();
    const old = openFence(db, { lease, lease_uid, epoch: 1, holder: 'old' });
    await old.raise();
    const other = open({ maxConnections: 2 });
    const order: string[] = [];
    let raised: Promise<void> | undefined;
    await old.db.transaction(async (tx) => {
      raised = openFence(other, { lease, lease_uid, epoch: 2, holder: 'new' }).raise();
      void raised.then(() => order.push('raised'));
      await untilWaiting(db, 1);
      await insertOrganization(tx, { organization_id: id('org'), name: lease, plan: 'trial' });
      order.push('written');
    });
    await raised;
    expect(order).toEqual(['written', 'raised']);
    expect(await isThere(lease)).toBe(true);
  });

  it('is recorded by its first write if it was not raised before', async () => {
    const lease = newLease();
    const term = openFence(db, { lease, lease_uid, epoch: 3, holder: 'new' });
    await write(term.db, lease);
    expect(await isThere(lease)).toBe(true);
    expect(await db.query('select epoch from operator_terms where lease = $1', [lease])).toEqual([
      { epoch: 3 },
    ]);
  });

  it('ends for all its work once one write is fenced off', async () => {
    const lease = newLease();
    const own = new AbortController();
    const term = { epoch: 1, lease_uid, signal: own.signal, isCurrent: () => true };
    await leadFenced(term, { db, lease, holder: 'old', log }, async (fenced) => {
      await openFence(db, { lease, lease_uid, epoch: 2, holder: 'new' }).raise();
      expect(fenced.isCurrent()).toBe(true);
      await expect(write(fenced.db, lease)).rejects.toBeInstanceOf(Fenced);
      expect([fenced.isCurrent(), fenced.signal.aborted]).toEqual([false, true]);
    });
    expect(own.signal.aborted).toBe(false);
  });

  it.each([
    ['recreated', 'delete from operator_terms where lease = $1'],
    ['restored', 'update operator_terms set epoch = 1 where lease = $1'],
  ])('ends if the database was %s, and the next term can write', async (_, statement) => {
    const lease = newLease();
    const { signal } = new AbortController();
    const term = (epoch: number) => ({ epoch, lease_uid, signal, isCurrent: () => true });
    await leadFenced(term(2), { db, lease, holder: 'one', log }, async (fenced) => {
      await write(fenced.db, lease);
      await db.query(statement, [lease]);
      await expect(write(fenced.db, `${lease} late`)).rejects.toBeInstanceOf(Rewound);
      expect([fenced.isCurrent(), fenced.signal.aborted]).toEqual([false, true]);
    });
    expect(await isThere(`${lease} late`)).toBe(false);
    await leadFenced(term(3), { db, lease, holder: 'one', log }, async (fenced) => {
      await write(fenced.db, `${lease} next`);
    });
    expect(await isThere(`${lease} next`)).toBe(true);
  });

  it.each([
    ['recreated', 'delete from operator_terms where lease = $1', Rewound],
    ['restored', 'update operator_terms set epoch = 1 where lease = $1', Rewound],
    ['led by another', 'update operator_terms set epoch = 3 where lease = $1', Fenced],
  ])(
    'that writes nothing notices with its next check that the database was %s',
    async (_, statement, is) => {
      const lease = newLease();
      const { signal } = new AbortController();
      const term = { epoch: 2, lease_uid, signal, isCurrent: () => true };
      await leadFenced(term, { db, lease, holder: 'one', log }, async (fenced) => {
        await fenced.raised();
        await db.query(statement, [lease]);
        await expect(fenced.raised()).rejects.toBeInstanceOf(is);
        expect(fenced.signal.aborted).toBe(true);
      });
    },
  );

  it('notices that the database was restored from a dump of this very term', async () => {
    const lease = newLease();
    const fence = openFence(db, { lease, lease_uid, epoch: 2, holder: 'one' });
    await fence.raise();
    await fence.raised();
    // Replaces the table, as `pg_restore --clean` does.
    await db.transaction(async (tx) => {
      await tx.query('create table restored (like operator_terms including all)');
      await tx.query('insert into restored select * from operator_terms');
      await tx.query('drop table operator_terms');
      await tx.query('alter table restored rename to operator_terms');
    });
    await expect(fence.raised()).rejects.toBeInstanceOf(Rewound);
    await expect(write(fence.db, lease)).rejects.toBeInstanceOf(Rewound);
    expect(await isThere(lease)).toBe(false);
  });

  it('reports a leader by another Lease of the same name as possibly that of another cluster', async () => {
    const lease = newLease();
    const own = openFence(db, { lease, lease_uid, epoch: 1, holder: 'own' });
    await own.raise();
    await openFence(db, { lease, lease_uid: 'other', epoch: 2, holder: 'new' }).raise();
    await expect(write(own.db, lease)).rejects.toThrow(
      /'new' leads by .* \(another Lease of that name: does another cluster use this database\?\) since/,
    );
  });

  it('records resources declared under another Lease as owned elsewhere, up to the last write there', async () => {
    const lease = newLease();
    const { project_id } = await makeProject(db);
    const owner_uid = id('org');
    const old = openFence(db, { lease, lease_uid: 'there', epoch: 1, holder: 'old' });
    await old.raise();
    const other = open({ maxConnections: 2 });
    const next = openFence(other, { lease, lease_uid: 'here', epoch: 2, holder: 'new' });
    let raised: Promise<void> | undefined;
    await old.db.transaction(async (tx) => {
      raised = next.raise();
      await untilWaiting(db, 1);
      await updateProject(tx, { project_id, changes: ownedBy(owner_uid) });
    });
    await raised;
    expect(await listOwnersElsewhere(db)).toContain(owner_uid);
  });

  it('records resources as owned elsewhere if the previous term did not name its Lease', async () => {
    const lease = newLease();
    const { project_id } = await makeProject(db);
    const owner_uid = id('org');
    const old = openFence(db, { lease, lease_uid, epoch: 1, holder: 'old' });
    await old.raise();
    await updateProject(db, { project_id, changes: ownedBy(owner_uid) });
    await openFence(db, { lease, lease_uid, epoch: 2, holder: 'old' }).raise();
    expect(await listOwnersElsewhere(db)).not.toContain(owner_uid);
    // Earlier versions do not record the Lease.
    await db.query('update operator_terms set lease_uid = null where lease = $1', [lease]);
    await openFence(db, { lease, lease_uid, epoch: 3, holder: 'new' }).raise();
    expect(await listOwnersElsewhere(db)).toContain(owner_uid);
  });

  it('is independent of the terms of another installation in the same database', async () => {
    const [one, other] = [newLease(), newLease()];
    const fence = openFence(db, { lease: one, lease_uid, epoch: 1, holder: 'one' });
    await fence.raise();
    await openFence(db, { lease: other, lease_uid, epoch: 9, holder: 'other' }).raise();
    await write(fence.db, one);
    expect(await isThere(one)).toBe(true);
  });
});

describe('a leader that was frozen', () => {
  it.each([
    ['before', /^failed Fenced: nothing was written: 'new' leads/],
    ['inside', /^failed /],
  ])(
    '%s its transaction writes nothing when it wakes up after another term has begun',
    async (place, said) => {
      const lease = newLease();
      const writer = startWriter([url(), lease, id('org'), place]);
      try {
        expect(await writer.line()).toBe('paused');
        writer.child.kill('SIGSTOP');
        await openFence(db, { lease, lease_uid, epoch: 2, holder: 'new' }).raise();
        writer.child.kill('SIGCONT');
        writer.child.stdin?.write('go on\n');
        expect(await writer.line()).toMatch(said);
        expect(await isThere(lease)).toBe(false);
      } finally {
        writer.child.kill('SIGKILL');
      }
    },
  );
});

function startWriter(args: string[]): { child: ChildProcess; line(): Promise<string> } {
  const script = new URL('fenced-writer.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}
