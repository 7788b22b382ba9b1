import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kustomize, run } from '../config/rendered.ts';
import {
  type ControlPlane,
  createNamespace,
  kubeconfig,
  startControlPlane,
} from '../support/control-plane.ts';
import { type Identity, kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';

// A separate control plane: other tests write and delete the same roles.
let own: ControlPlane;
const plane = () => own;

const paths: Record<string, string> = {
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding:
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
};

let team = '';

/** The cluster-scoped objects of the manifests. */
const objects = [...kustomize('admission-policy'), ...kustomize('rbac')].flatMap((object) => {
  const path = paths[object.kind];
  return path === undefined ? [] : [{ path: `${path}/${object.metadata.name}`, object }];
});

beforeAll(async () => {
  own = await startControlPlane({ components: [] });
  team = await createNamespace(own);
  for (const { path, object } of objects) await kubeApply(plane(), path, object);
  await bind('tenant', 'tintype-projects-admin');
  await bind('staff', 'tintype-projects-editor');
  await bind('staff', 'tintype-staff');
  await policyHolds();
}, 300_000);

afterAll(() => own?.stop());

async function bind(user: Identity, role: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const name = `${user}-${role}`;
  await kubeApply(plane(), `/apis/${group}/v1/namespaces/${team}/rolebindings/${name}`, {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  });
}

/** Waits until the policy is in effect, a moment after it was written. */
async function policyHolds(): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    const path = `${projects()}?dryRun=All`;
    const body = project('probe', { staff: { pricingMultiplier: '2' } });
    const { status } = await kubeRequest(plane(), { as: 'tenant', method: 'POST', path, body });
    if (status === 403) return;
  }
  throw new Error('the policy does not hold');
}

const projects = () => `/apis/tintype.dev/v1alpha1/namespaces/${team}/projects`;

function project(name: string, spec: object) {
  return {
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'Project',
    metadata: { name },
    spec: { displayName: 'Shop', ...spec },
  };
}

function create(as: Identity, name: string, spec: object) {
  return kubeRequest(plane(), { as, method: 'POST', path: projects(), body: project(name, spec) });
}

function change(as: Identity, name: string, spec: object) {
  return kubeRequest(plane(), {
    as,
    method: 'PATCH',
    path: `${projects()}/${name}`,
    body: { spec },
    content_type: 'application/merge-patch+json',
  });
}

/** Runs kubectl as this identity, with `file` as its input. */
async function kubectl(as: Identity, args: string, file: object): Promise<string> {
  const config = join(own.folder, `${as}.kubeconfig`);
  await writeFile(config, kubeconfig(own, as));
  const how = ['--kubeconfig', config, '--namespace', team, ...args.split(' ')];
  return run('kubectl', [...how, '--filename', '-'], JSON.stringify(file));
}

async function specOf(name: string): Promise<unknown> {
  return (await kubeOk(plane(), { path: `${projects()}/${name}` }))['spec'];
}

const staff = { customDomains: ['img.shop.example'], pricingMultiplier: '1.5' };

describe('the admission policy for staff fields, on a real API server', () => {
  it('compiles without a warning', async () => {
    const path = `${paths.ValidatingAdmissionPolicy}/tintype-staff-fields.tintype.dev`;
    const { status } = await kubeOk(plane(), { path });
    expect(JSON.stringify(status ?? {})).not.toContain('warning');
  });

  it('lets an admin of the namespace declare a project without staff fields', async () => {
    expect((await create('tenant', 'plain', {})).status).toBe(201);
    expect((await change('tenant', 'plain', { displayName: 'Other' })).status).toBe(200);
  });

  it('refuses staff fields to an admin of the namespace, and names the missing verb', async () => {
    const { status, body } = await create('tenant', 'greedy', { staff });
    expect(status).toBe(403);
    expect(body.message).toContain('`spec.staff` must not be set');
    expect(body.message).not.toContain('kubectl apply');
    expect(body.message).toContain(`user 'tenant' has no verb 'manage-staff-fields'`);
    expect(body.message).toContain(team);
  });

  it('lets staff set, change and remove them, while the tenant may change the rest', async () => {
    expect((await create('staff', 'shop', { staff })).status).toBe(201);
    expect((await change('tenant', 'shop', { displayName: 'Renamed' })).status).toBe(200);
    expect((await change('staff', 'shop', { staff: { pricingMultiplier: '2' } })).status).toBe(200);
    expect((await change('staff', 'shop', { staff: null })).status).toBe(200);
  });

  it('forbids a tenant to change, add or remove what staff set', async () => {
    expect((await create('staff', 'set', { staff })).status).toBe(201);
    for (const wanted of [
      { pricingMultiplier: '0' },
      { nudityAutoBlock: 'Disabled' },
      { customDomains: null },
      null,
    ]) {
      expect((await change('tenant', 'set', { staff: wanted })).status).toBe(403);
    }
  });

  it('lets a tenant apply a file without the fields that staff patched', async () => {
    await kubectl('tenant', 'apply', project('patched', {}));
    expect((await change('staff', 'patched', { staff })).status).toBe(200);
    await kubectl('tenant', 'apply', project('patched', { displayName: 'Store' }));
    expect(await specOf('patched')).toMatchObject({ displayName: 'Store', staff });
  });

  it('lets tenant and staff each apply their own fields by server-side apply', async () => {
    const { spec: _, ...head } = project('shared', {});
    await kubectl('tenant', 'apply --server-side', project('shared', {}));
    const how = 'apply --server-side --field-manager=staff';
    await kubectl('staff', how, { ...head, spec: { staff } });
    await kubectl('tenant', 'apply --server-side', project('shared', { displayName: 'Store' }));
    expect(await specOf('shared')).toMatchObject({ displayName: 'Store', staff });
  });

  it('tells a tenant what to do after staff applied a file, and that works', async () => {
    const theirs = project('applied', { displayName: 'Store' });
    await kubectl('tenant', 'apply', project('applied', {}));
    await kubectl('staff', 'apply', project('applied', { staff }));
    await expect(kubectl('tenant', 'apply', theirs)).rejects.toThrow(
      'run `kubectl apply set-last-applied --filename` with your file, and apply it again',
    );
    await kubectl('tenant', 'apply set-last-applied', theirs);
    await kubectl('tenant', 'apply', theirs);
    expect(await specOf('applied')).toMatchObject({ displayName: 'Store', staff });
    await kubectl('tenant', 'apply', project('applied', {}));
    expect(await specOf('applied')).toMatchObject({ displayName: 'Shop', staff });
  });

  it('tells a tenant who replaces a resource to apply the file instead, which keeps what staff set', async () => {
    const theirs = project('replaced', { displayName: 'Store' });
    await kubectl('tenant', 'create', project('replaced', {}));
    expect((await change('staff', 'replaced', { staff })).status).toBe(200);
    await expect(kubectl('tenant', 'replace', theirs)).rejects.toThrow(
      'replaced the resource (`kubectl replace`), that removes what your file leaves out: apply the file instead',
    );
    await kubectl('tenant', 'apply', theirs);
    expect(await specOf('replaced')).toMatchObject({ displayName: 'Store', staff });
  });

  it('does not apply to a deletion', async () => {
    expect((await create('staff', 'gone', { staff })).status).toBe(201);
    const path = `${projects()}/gone`;
    const { status } = await kubeRequest(plane(), { as: 'tenant', method: 'DELETE', path });
    expect(status).toBe(200);
  });

  it('gives a stranger no rights', async () => {
    expect((await create('stranger', 'strange', {})).status).toBe(403);
  });
});
