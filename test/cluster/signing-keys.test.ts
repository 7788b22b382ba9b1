import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { rotateSigningKey } from '../../runtime/actions/rotate-signing-key.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { listSigningKeys } from '../../runtime/db/signing-keys.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { useDatabase } from '../support/database.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, led, read, remove, untilGone, untilReason } = cluster;

async function keys(slug: string) {
  const { project_id } = must(await findProjectBySlug(db, slug));
  return listSigningKeys(db, project_id);
}

const ageOf = (kid: string, days: number) =>
  db.query(
    'update signing_keys set created_at = now() - make_interval(days => $2) where kid = $1',
    [kid, days],
  );

it('a new trigger rotates a key once, and the status has both keys while the previous one verifies', async () => {
  const name = newSlug();
  const projectRef = { name };
  await apply('Project', name, {});
  await apply('SigningKey', name, { projectRef, rotationTrigger: '1' });
  await led(async () => {
    await untilReason('SigningKey', name, 'InSync');
    const [first] = await keys(name);
    expect((await read('SigningKey', name)).status).toMatchObject({ kid: first?.kid });
    expect((await read('SigningKey', name)).status['previousKid']).toBeUndefined();
    await apply('SigningKey', name, { projectRef, rotationTrigger: '2' });
    await until(async () =>
      expect((await read('SigningKey', name)).status['previousKid']).toBe(first?.kid),
    );
    const [active, retired, ...others] = await keys(name);
    expect(others).toEqual([]);
    expect([active?.status, retired?.status]).toEqual(['active', 'retired']);
    const { status } = await read('SigningKey', name);
    expect(status).toMatchObject({ kid: active?.kid });
    const retire_ms = Date.parse(String(status['previousRetireTime']));
    expect(retire_ms).toBe(Math.floor((retired?.retire_after?.getTime() ?? 0) / 1000) * 1000);
    expect(retire_ms - Date.now()).toBeGreaterThan(23 * 3_600_000);
    await until(async () => expect(await reported('Rotated', name)).toEqual([name]));
  });
});

it('a key rotates once it is older than rotationDays, and not before', async () => {
  const name = newSlug();
  await apply('Project', name, {});
  await apply('SigningKey', name, { projectRef: { name }, rotationDays: 30 });
  await led(async () => {
    await untilReason('SigningKey', name, 'InSync');
    const [first] = await keys(name);
    await ageOf(must(first).kid, 29);
    await until(async () =>
      expect((await read('SigningKey', name)).status['kid']).toBe(first?.kid),
    );
    await ageOf(must(first).kid, 31);
    await until(async () => expect(await keys(name)).toHaveLength(2));
    await until(async () =>
      expect((await read('SigningKey', name)).status).toMatchObject({ previousKid: first?.kid }),
    );
    expect(await keys(name)).toHaveLength(2);
  });
});

it('the first of two SigningKeys has the key of a project, and deleting either keeps the key', async () => {
  const [name, second] = [newSlug(), newSlug()];
  const projectRef = { name };
  await apply('Project', name, {});
  await apply('SigningKey', name, { projectRef, rotationTrigger: '1' });
  await led(async () => {
    await untilReason('SigningKey', name, 'InSync');
    await apply('SigningKey', second, { projectRef, rotationTrigger: '7' });
    await untilReason('SigningKey', second, 'SigningKeyTaken');
    await remove('SigningKey', second);
    await untilGone('SigningKey', second);
    expect(await keys(name)).toHaveLength(1);
    await remove('SigningKey', name);
    await untilGone('SigningKey', name);
    const [left] = await keys(name);
    expect(left).toMatchObject({ status: 'active', owner_uid: null });
  });
});

it('an Adopted Event is recorded for a key that somebody had rotated to, but not for a first key', async () => {
  const [fresh, rotated] = [newSlug(), newSlug()];
  for (const name of [fresh, rotated]) await apply('Project', name, {});
  await led(async () => {
    for (const name of [fresh, rotated]) await untilReason('Project', name, 'InSync');
    const { project_id } = must(await findProjectBySlug(db, rotated));
    const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);
    const deps = { sealing, clock: { now: () => new Date() } };
    await db.transaction((tx) => rotateSigningKey(tx, deps, { project_id }));
    for (const name of [fresh, rotated]) {
      await apply('SigningKey', name, { projectRef: { name } });
      await untilReason('SigningKey', name, 'InSync');
    }
    await until(async () => expect(await reported('Adopted', fresh, rotated)).toEqual([rotated]));
  });
});

/** Which of these resources have Events with this reason. */
async function reported(reason: string, ...names: string[]): Promise<string[]> {
  const events = (await cluster.events()).filter((each) => each.reason === reason);
  return events.map(({ regarding }) => regarding.name).filter((name) => names.includes(name));
}
