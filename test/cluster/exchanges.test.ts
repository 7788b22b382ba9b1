/** Two Projects of a namespace exchange custom domains and the names of callback Secrets. */
import { expect, it } from 'vitest';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { apply, condition, led, remove, untilGone, untilReason } = cluster;

const domainsOf = async (slug: string) => must(await findProjectBySlug(db, slug)).custom_domains;

/** Declares the domains of each project, and waits until they are in effect. */
async function become(wanted: Record<string, string[]>): Promise<void> {
  for (const [name, customDomains] of Object.entries(wanted)) {
    await apply('Project', name, { staff: { customDomains } });
  }
  for (const [name, customDomains] of Object.entries(wanted)) {
    await untilReason('Project', name, 'InSync');
    expect(await domainsOf(name)).toEqual(customDomains);
  }
}

it('Projects swap custom domains, two of them and three in a ring', async () => {
  const [a, b, c] = [newSlug(), newSlug(), newSlug()];
  const [x, y, z] = [`x.${a}.example`, `y.${a}.example`, `z.${a}.example`];
  await led(async () => {
    await become({ [a]: [x], [b]: [y], [c]: [z] });
    await become({ [a]: [y], [b]: [x], [c]: [z] });
    await become({ [a]: [z], [b]: [y], [c]: [x] });
    await become({ [a]: [x, y], [b]: [z], [c]: [] });
  });
});

it('a custom domain stays with a Project that keeps it, is paused or declares no domains', async () => {
  const [a, b] = [newSlug(), newSlug()];
  const [x, y] = [`x.${a}.example`, `y.${a}.example`];
  const refused = async () => {
    const passes = await cluster.countPasses();
    await until(async () => expect(await cluster.countPasses()).toBeGreaterThan(passes + 3));
    await untilReason('Project', a, 'CustomDomainTaken');
    expect(await domainsOf(a)).toEqual([x]);
    expect(await domainsOf(b)).toEqual([y]);
  };
  await led(async () => {
    await become({ [a]: [x], [b]: [y] });
    await apply('Project', a, { staff: { customDomains: [y] } });
    await refused();
    const paused = { annotations: { 'tintype.dev/paused': 'true' } };
    await apply('Project', b, { staff: { customDomains: [x] } }, paused);
    await until(async () =>
      expect(await condition('Project', b, 'Paused')).toMatchObject({ status: 'True' }),
    );
    await refused();
    await apply('Project', b, {});
    await untilReason('Project', b, 'InSync');
    await refused();
  });
});

it('a custom domain of a deleted Project is free once that Project is declared again without it', async () => {
  const [a, b] = [newSlug(), newSlug()];
  const x = `x.${a}.example`;
  await led(async () => {
    await become({ [a]: [x] });
    await remove('Project', a);
    await untilGone('Project', a);
    await apply('Project', b, { staff: { customDomains: [x] } });
    await untilReason('Project', b, 'CustomDomainTaken');
    expect((await condition('Project', b))?.message).toBe(
      `'${x}' belongs to a project that was released when the Project '${a}' was deleted: declare that one again without it in spec.staff.customDomains, or remove it here`,
    );
    await apply('Project', a, { staff: { customDomains: [] } });
    await untilReason('Project', b, 'InSync');
    expect(await domainsOf(b)).toEqual([x]);
  });
});

async function holderOf(name: string): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${cluster.namespace()}/secrets/${name}`;
  const { metadata } = (await kubeOk(cluster.plane(), { path })) as {
    metadata: { ownerReferences: { name: string }[] };
  };
  return metadata.ownerReferences[0]?.name;
}

const heldBy = (project: string, secret: string) =>
  `the Secret '${secret}' belongs to the Project '${project}': set another name in \`spec.callback.secretName\``;

it('Projects that swap the names of their callback Secrets are told an order of steps that works', async () => {
  const [a, b] = [newSlug(), newSlug()];
  const [first, second, third] = [`${a}-1`, `${a}-2`, `${a}-3`];
  const name = (project: string, secretName: string) =>
    apply('Project', project, { callback: { url: 'https://shop.example/hook', secretName } });
  await led(async () => {
    await name(a, first);
    await name(b, second);
    await untilReason('Project', a, 'InSync');
    await untilReason('Project', b, 'InSync');
    await name(a, second);
    await untilReason('Project', a, 'SecretTaken');
    // No advice to delete the Secret: the other Project's server would then find the wrong key.
    expect((await condition('Project', a))?.message).toBe(heldBy(b, second));
    await name(b, first);
    await untilReason('Project', b, 'SecretTaken');
    await until(async () =>
      expect((await condition('Project', a))?.message).toBe(
        `the Secret '${second}' still belongs to the Project '${b}', which is getting another one; it is created once that Project has its new one. If the two swap names, set \`spec.callback.secretName\` of '${b}' to a third name; when both are Ready, set it to the name that this Project gave up`,
      ),
    );
    expect(await holderOf(second)).toBe(b);
    await name(b, third);
    await untilReason('Project', b, 'InSync');
    await untilReason('Project', a, 'InSync');
    await name(b, first);
    await untilReason('Project', b, 'InSync');
    expect([await holderOf(first), await holderOf(second)]).toEqual([b, a]);
  });
});

it('a callback Secret stays with its Project until that Project is gone', async () => {
  const [a, b] = [newSlug(), newSlug()];
  const spec = { callback: { url: 'https://shop.example/hook', secretName: a } };
  const untilTold = (message: string) =>
    until(async () => expect((await condition('Project', b))?.message).toBe(message));
  await apply('Project', a, spec);
  await led(async () => {
    await untilReason('Project', a, 'InSync');
    await apply('Project', b, spec);
    await untilTold(heldBy(a, a));
    const paused = { annotations: { 'tintype.dev/paused': 'true' } };
    await apply(
      'Project',
      a,
      { callback: { url: 'https://shop.example/hook', secretName: b } },
      paused,
    );
    await until(async () =>
      expect(await condition('Project', a, 'Paused')).toMatchObject({ status: 'True' }),
    );
    await untilTold(heldBy(a, a));
    await remove('Project', a);
    await untilTold(
      `the Secret '${a}' still belongs to the Project '${a}', which is being deleted; it is created once that Project is gone`,
    );
    await apply('Project', a, spec);
    await untilGone('Project', a);
    await untilReason('Project', b, 'InSync');
    expect(await holderOf(a)).toBe(b);
  });
});
