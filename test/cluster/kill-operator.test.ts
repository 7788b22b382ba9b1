import { once } from 'node:events';
import { expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { type KillPoint, startKillProxies } from '../support/kill-proxies.ts';
import { kubeApply, kubeOk, kubeRequest, type PlaneAddress } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { SAMPLE_MS_MAX, sampleOf } from '../support/sample.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const keys = newSealingKey();

type Place = { namespace: string; name: string };

const path = ({ namespace, name }: Place) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${name}`;

/**
 * A Project with everything that a pass can write, in a new namespace, so that its organization is
 * created as well.
 */
async function declare(): Promise<Place> {
  const namespace = await cluster.namespace();
  const { tenant, own, delivery } = permissions;
  await permitOperator(plane(), namespace, [...tenant, ...own, ...delivery]);
  const place = { namespace, name: newSlug() };
  await kubeApply(plane(), path(place), {
    ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'Project', metadata: place },
    spec: {
      callback: { url: 'https://shop.example/hook', secretName: place.name },
      staff: { customDomains: [`${place.name}.example`], pricingMultiplier: '1.5' },
    },
  });
  return place;
}

type Through = { plane: PlaneAddress; database_url: string };

/** `namespaces[0]` is the operator's own namespace. */
function start(through: Through, namespaces: readonly string[]): Promise<OperatorProcess> {
  return startOperator(through.plane, {
    ...{ POD_NAMESPACE: namespaces[0] ?? '', TINTYPE_WATCH_NAMESPACES: namespaces.join() },
    ...{ TINTYPE_DATABASE_URL: through.database_url, TINTYPE_KEY_ENCRYPTION_KEYS: keys },
  });
}

/** The final state, with names replaced so that the states of all places are comparable. */
async function outcome(place: Place): Promise<unknown> {
  const { namespace, name } = place;
  const rows = (query: string) => db.query(query, [name]);
  const { metadata, status } = (await kubeOk(plane(), { path: path(place) })) as {
    metadata: { finalizers?: string[] };
    status: { conditions?: { type: string; status: string; reason: string }[] };
  };
  const secret = { path: `/api/v1/namespaces/${namespace}/secrets/${name}` };
  const text = JSON.stringify({
    projects: await rows(
      'select status, callback_url, owner_name from projects where project_slug = $1',
    ),
    keys: await rows(
      'select k.status from signing_keys k join projects using (project_id) where project_slug = $1',
    ),
    domains: await rows(
      'select domain from project_domains join projects using (project_id) where project_slug = $1',
    ),
    prices: await rows(
      'select multiplier from project_pricing join projects using (project_id) where project_slug = $1',
    ),
    audited: await rows(
      `select after->'changes' as changes from audit_log join projects using (project_id) where project_slug = $1`,
    ),
    organizations: (await db.query('select from organizations where namespace = $1', [namespace]))
      .length,
    secret: (await kubeRequest(plane(), secret)).status,
    finalizers: metadata.finalizers,
    conditions: status.conditions
      ?.map((each) => `${each.type} ${each.status} ${each.reason}`)
      .sort(),
  });
  return JSON.parse(text.replaceAll(name, 'NAME'));
}

async function untilSettled(place: Place): Promise<unknown> {
  let found: unknown;
  await until(async () => {
    found = await outcome(place);
    expect(found).toMatchObject({ conditions: expect.arrayContaining(['Ready True InSync']) });
    const { conditions } = found as { conditions: string[] };
    expect(conditions.some((each) => each.startsWith('Routed'))).toBe(true);
  });
  return found;
}

/** Declares a Project, kills the operator at `point`, and returns its writes until then. */
async function killedAt(point: KillPoint): Promise<Place & { writes: string[] }> {
  const place = await declare();
  const proxies = await startKillProxies({ plane: plane(), database_url: url() }, point);
  const operator = await start(proxies, [place.namespace]);
  const { child } = operator;
  const gone = once(child, 'exit');
  proxies.aim(() => child.kill('SIGKILL'));
  const [, signal] = await gone;
  expect(signal).toBe('SIGKILL');
  await operator.stop();
  await proxies.close();
  return { ...place, writes: proxies.writes };
}

const AT_ONCE = 3;
/** An odd number, so that the sample alternates between both sides of a write. */
const ONE_IN = 9;

it(
  'an operator that is killed at any of its writes leaves only what the next one finishes',
  async () => {
    const clean = await declare();
    const watched = await startKillProxies({ plane: plane(), database_url: url() });
    const first = await start(watched, [clean.namespace]);
    const expected = await untilSettled(clean);
    await first.stop();
    await watched.close();
    expect(watched.writes.length).toBeGreaterThanOrEqual(5);

    const all = watched.writes.flatMap((_, write): KillPoint[] => [
      { write, side: 'before' },
      { write, side: 'after' },
    ]);
    const points = sampleOf(all, ONE_IN);
    const places: Place[] = [clean];
    for (let done = 0; done < points.length; done += AT_ONCE) {
      const some = points.slice(done, done + AT_ONCE);
      const killed = await Promise.all(some.map(killedAt));
      for (const [index, { writes }] of killed.entries()) {
        expect(writes).toHaveLength((some[index]?.write ?? 0) + 1);
      }
      places.push(...killed);
    }

    const namespaces = places.map(({ namespace }) => namespace);
    const next = await start({ plane: plane(), database_url: url() }, namespaces);
    for (const [index, place] of places.entries()) {
      expect({ after: points[index - 1], found: await untilSettled(place) }).toEqual({
        after: points[index - 1],
        found: expected,
      });
    }
    next.child.kill('SIGTERM');
    await once(next.child, 'exit');
    await next.stop();

    const again = await startKillProxies({ plane: plane(), database_url: url() });
    const last = await start(again, namespaces);
    await until(async () => expect(await countPasses(last)).toBeGreaterThanOrEqual(places.length));
    expect(again.writes).toEqual([]);
    await last.stop();
    await again.close();
  },
  SAMPLE_MS_MAX,
);

async function countPasses({ watched }: OperatorProcess): Promise<number> {
  const printed = await (await fetch(`${watched}/metrics`)).text();
  const found = printed.matchAll(
    /^controller_runtime_reconcile_total\{controller="Project",.*\} (\d+)$/gm,
  );
  return [...found].reduce((sum, [, passes]) => sum + Number(passes), 0);
}
