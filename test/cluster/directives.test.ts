import { describe, expect, it } from 'vitest';
import { PAUSED } from '../../operator/cluster/directives.ts';
import { findProjectBySlug, updateProject } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { metricValue } from '../support/metric-value.ts';
import { makeFile, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({
  db,
  context: {
    planRoutes: async ({ metadata, spec }) =>
      spec?.['staff'] === undefined ? [] : [`+ Ingress ${metadata.name}`],
  },
});
const { apply, condition, led, read, remove, untilReason, untilGone } = cluster;

const plan = { annotations: { 'tintype.dev/plan-only': 'true' } };
const pause = { annotations: { 'tintype.dev/paused': 'true' } };
const project = (slug: string) => findProjectBySlug(db, slug);

async function untilPlanned(kind: string, name: string, message: string): Promise<void> {
  await until(async () => expect((await condition(kind, name, 'Planned'))?.message).toBe(message));
}

/** All rows that a resource can own, and what is written along with them. */
async function allRows(): Promise<unknown[]> {
  const tables = [
    ...['organizations', 'projects', 'signing_keys', 'project_domains', 'project_pricing'],
    ...['recipes', 'watermark_presets', 'audit_log', 'operator_terms'],
  ];
  return Promise.all(tables.map((table) => db.query(`select * from ${table} order by 1`)));
}

/** The number of held Projects in the operator's metrics. */
async function countHeld(annotation: 'paused' | 'plan-only'): Promise<number> {
  const series = `tintype_resources_held{kind="Project",annotation="${annotation}"}`;
  return Number(must(metricValue(await cluster.metrics().print(), series)));
}

describe('a plan-only resource', () => {
  it('shows every planned row and route but writes none, until it is no longer plan-only', async () => {
    const name = newSlug();
    const spec = {
      displayName: 'Shop',
      deliveryAccess: 'Protected',
      callback: { url: 'https://shop.example/hook', secretName: name },
      staff: { customDomains: [`${name}.example`] },
    };
    await led(async () => {
      const before = await allRows();
      const held = await countHeld('plan-only');
      await apply('Project', name, spec, { ...plan, namespace: cluster.other() });
      const planned = async () => {
        const { status } = await read('Project', name, cluster.other());
        return status.conditions?.find(({ type }) => type === 'Planned');
      };
      await until(async () => expect((await planned())?.status).toBe('True'));
      expect((await planned())?.message.split('\n')).toEqual([
        `+ organizations ${cluster.other()} { name: "${cluster.other()}", plan: "trial", namespace: "${cluster.other()}" }`,
        `+ projects ${name} { project_slug: "${name}", organization_id: "(a new organization '${cluster.other()}')", name: "Shop", delivery_access: "protected" }`,
        expect.stringMatching(
          `^~ projects ${name} \\{ owner_uid: null → ".*", owner_namespace: null → "${cluster.other()}", owner_name: null → "${name}", owner_deletion_policy: null → "suspend" \\}$`,
        ),
        `~ projects ${name} { callback_url: null → "https://shop.example/…", callback_secret_sealed: null → (a new secret) }`,
        `+ signing_keys ${name} { kid: (a new key) }`,
        `+ project_domains ${name}.example`,
        `+ Secret ${cluster.other()}/${name}`,
        `+ Ingress ${name}`,
      ]);
      const live = await read('Project', name, cluster.other());
      expect(live.metadata.finalizers).toBeUndefined();
      expect(await allRows()).toEqual(before);
      expect(await countHeld('plan-only')).toBe(held + 1);
      await apply('Project', name, spec, { namespace: cluster.other() });
      await untilReason('Project', name, 'InSync', cluster.other());
      expect(await countHeld('plan-only')).toBe(held);
      expect(await planned()).toBeUndefined();
      expect(await project(name)).toMatchObject({ delivery_access: 'protected' });
    });
  });

  it('shows the old and new values of a change, for every kind', async () => {
    const name = newSlug();
    const projectRef = { name };
    await apply('Project', name, { displayName: 'Shop' });
    await apply('Recipe', name, { projectRef, transformChain: 'resize/640x480' });
    await apply('SigningKey', name, { projectRef });
    await led(async () => {
      await untilReason('Recipe', name, 'InSync');
      await untilReason('SigningKey', name, 'InSync');
      await makeFile(db, must(await project(name)), { file_slug: 'logo.png' });
      await apply('WatermarkPreset', name, { projectRef, fileSlug: 'logo.png' });
      await untilReason('WatermarkPreset', name, 'InSync');
      const before = await allRows();
      const { kid } = (await read('SigningKey', name)).status;
      await apply('Project', name, { displayName: 'Store' }, plan);
      await apply('Recipe', name, { projectRef, transformChain: 'resize/9x9' }, plan);
      await apply('SigningKey', name, { projectRef, rotationTrigger: '2' }, plan);
      const look = { displayName: 'Logo', opacityPercent: 50 };
      await apply('WatermarkPreset', name, { projectRef, fileSlug: 'logo.png', ...look }, plan);
      await untilPlanned('Project', name, `~ projects ${name} { name: "Shop" → "Store" }`);
      const chains = 'transform_chain: "resize/640x480" → "resize/9x9"';
      await untilPlanned('Recipe', name, `~ recipes ${name} { ${chains} }`);
      await untilPlanned(
        'WatermarkPreset',
        name,
        `~ watermark_presets ${name} { name: "${name}" → "Logo", opacity: 100 → 50 }`,
      );
      await until(async () =>
        expect((await condition('SigningKey', name, 'Planned'))?.message).toMatch(
          new RegExp(
            `^~ signing_keys ${String(kid)} \\{ status: "active" → "retired" \\}\\n\\+ signing_keys ${name} \\{ kid: \\(a new key\\), rotation_trigger: "2", `,
          ),
        ),
      );
      expect(await condition('Project', name)).toMatchObject({
        status: 'False',
        reason: 'PlanOnly',
        message: expect.stringContaining('remove the annotation `tintype.dev/plan-only`'),
      });
      await remove('Recipe', name);
      await untilPlanned('Recipe', name, `- recipes ${name}`);
      expect(await allRows()).toEqual(before);
    });
  });

  it('shows a changed order of custom domains as a change', async () => {
    const name = newSlug();
    const [one, two] = [`one.${name}.example`, `two.${name}.example`];
    const spec = (...customDomains: string[]) => ({ staff: { customDomains } });
    await apply('Project', name, spec(one, two));
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await apply('Project', name, spec(two, one), plan);
      const lines = [
        `~ project_domains ${two} { position: 2 → 1 }`,
        `~ project_domains ${one} { position: 1 → 2 }`,
        `+ Ingress ${name}`,
      ];
      await untilPlanned('Project', name, lines.join('\n'));
      await apply('Project', name, spec(two, one));
      await untilReason('Project', name, 'InSync');
      expect((await project(name))?.custom_domains).toEqual([two, one]);
    });
  });

  it('says what it waits for if nothing can be planned without it', async () => {
    const name = newSlug();
    const projectRef = { name };
    await apply('Recipe', name, { projectRef, transformChain: 'resize/9x9' }, plan);
    await apply('SigningKey', name, { projectRef }, plan);
    await led(async () => {
      for (const kind of ['Recipe', 'SigningKey']) {
        await until(async () =>
          expect(await condition(kind, name, 'Planned')).toMatchObject({
            ...{ status: 'Unknown', reason: 'Blocked' },
            message: `what would change is not known yet: there is no Project '${name}' yet`,
          }),
        );
      }
    });
  });

  it('shows what its deletion would do, and is deleted once it is no longer plan-only', async () => {
    const name = newSlug();
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      await apply('Project', name, {}, plan);
      await untilPlanned('Project', name, 'nothing would change: rows and routes are as declared');
      await remove('Project', name);
      await until(async () => {
        const { status } = await read('Project', name);
        const planned = status.conditions?.find(({ type }) => type === 'Planned');
        expect(planned?.message).toMatch(/status: "active" → "suspended"/);
      });
      expect(await project(name)).toMatchObject({ status: 'active' });
      await apply('Project', name, {});
      await untilGone('Project', name);
      expect(await project(name)).toMatchObject({ status: 'suspended' });
    });
  });
});

it('an annotation with a value that has no effect is reported, and the declaration takes effect', async () => {
  const name = newSlug();
  const ignored = async () => {
    const own = (await cluster.events()).filter(({ regarding }) => regarding.name === name);
    return own.filter(({ reason }) => reason === 'AnnotationIgnored');
  };
  await apply('Project', name, { displayName: 'Shop' }, { annotations: { [PAUSED]: 'false' } });
  await led(async () => {
    await untilReason('Project', name, 'InSync');
    expect(await ignored()).toEqual([]);
    await apply('Project', name, { displayName: 'Shop' }, { annotations: { [PAUSED]: 'True' } });
    await until(async () =>
      expect(await ignored()).toMatchObject([
        {
          type: 'Warning',
          note: expect.stringContaining(
            'paused has no effect with the value "True": set it to "true"',
          ),
        },
      ]),
    );
    expect(await condition('Project', name, 'Paused')).toBeUndefined();
  });
});

describe('a paused resource', () => {
  it('keeps its rows whatever is declared and whatever drifts, until it is no longer paused', async () => {
    const name = newSlug();
    await apply('Project', name, { displayName: 'Shop' });
    await led(async () => {
      await untilReason('Project', name, 'InSync');
      const paused = await countHeld('paused');
      await apply('Project', name, { displayName: 'Store' }, pause);
      await until(async () =>
        expect(await condition('Project', name, 'Paused')).toMatchObject({ status: 'True' }),
      );
      expect(await countHeld('paused')).toBe(paused + 1);
      const { project_id } = must(await project(name));
      await updateProject(db, { project_id, changes: { name: 'Drifted' } });
      const passes = await cluster.countPasses();
      await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 10));
      const { metadata, status } = await read('Project', name);
      expect((await project(name))?.name).toBe('Drifted');
      // The status still belongs to the generation of the last full pass.
      expect(status.observedGeneration).toBe(metadata.generation - 1);
      await apply('Project', name, { displayName: 'Store' });
      await untilReason('Project', name, 'InSync');
      expect((await project(name))?.name).toBe('Store');
      expect(await condition('Project', name, 'Paused')).toBeUndefined();
      expect(await countHeld('paused')).toBe(paused);
    });
  });

  it('says so before anybody has looked at it, and while its deletion waits', async () => {
    const name = newSlug();
    await apply('Recipe', name, { projectRef: { name }, transformChain: 'resize/9x9' }, pause);
    await apply('Project', name, {});
    await led(async () => {
      await untilReason('Recipe', name, 'Paused');
      expect(await condition('Recipe', name)).toMatchObject({ status: 'Unknown' });
      await untilReason('Project', name, 'InSync');
      await apply('Project', name, {}, pause);
      await until(async () =>
        expect(await condition('Project', name, 'Paused')).toMatchObject({ status: 'True' }),
      );
      await remove('Project', name);
      await until(async () => {
        const { status } = await read('Project', name);
        expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
          ...{ status: 'False', reason: 'Paused' },
          message: 'the deletion waits until the annotation `tintype.dev/paused` is removed',
        });
      });
      expect(await project(name)).toMatchObject({ status: 'active' });
      await apply('Project', name, {});
      await untilGone('Project', name);
    });
  });
});
