import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../config/rendered.ts';
import { projectRoot } from '../house/source-files.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { makeFile } from '../support/rows.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const keys = newSealingKey();
const runFile = promisify(execFile);
const NAMESPACE = 'tintype-system';

// A separate control plane: these tests delete the definitions that other tests need.
let plane: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  plane = await startControlPlane();
}, 300_000);

afterAll(async () => {
  await kill();
  await plane?.stop();
});

async function kill(): Promise<void> {
  await operator?.stop();
  operator = undefined;
}

async function script(name: string, settings: Record<string, string> = {}): Promise<string> {
  const env = { ...clusterShell(plane.folder), ...settings };
  const { stdout } = await runFile(join(projectRoot, 'config', name), { env });
  return stdout;
}

/** Uses the account of the Deployment, with the permissions of the installed roles. */
async function startInstalled(): Promise<void> {
  const { status } = (await kubeOk(plane, {
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/tintype-operator/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } };
  const address = { ...plane, tokens: { ...plane.tokens, operator: status.token } };
  operator = await startOperator(address, {
    POD_NAMESPACE: NAMESPACE,
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: keys,
  });
}

const plurals = {
  ImageService: 'imageservices',
  Project: 'projects',
  SigningKey: 'signingkeys',
  WatermarkPreset: 'watermarkpresets',
  Recipe: 'recipes',
} as const;

type Kind = keyof typeof plurals;

const path = (kind: Kind, name = '') => {
  const namespace = kind === 'ImageService' ? NAMESPACE : 'default';
  return `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}${name && `/${name}`}`;
};

const declared: readonly [Kind, string, object][] = [
  ['ImageService', 'images', least],
  [
    'Project',
    'shop',
    {
      defaultWatermarkPresetRef: { name: 'shop-logo' },
      callback: { url: 'https://shop.example/hook', secretName: 'shop-hook' },
      routing: { perProject: 'Always' },
    },
  ],
  [
    'Project',
    'archive',
    { deletionPolicy: 'Retain', defaultWatermarkPresetRef: { name: 'archive-logo' } },
  ],
  ...['shop', 'archive'].flatMap((name): [Kind, string, object][] => {
    const projectRef = { name };
    const drawn = { projectRef, fileSlug: 'logo.png' };
    return [
      ['SigningKey', name, { projectRef }],
      ['Recipe', name, { projectRef, transformChain: 'resize/640x480' }],
      ['WatermarkPreset', `${name}-logo`, { ...drawn, displayName: 'logo' }],
      ['WatermarkPreset', `${name}-small`, { ...drawn, displayName: 'small' }],
    ];
  }),
];

async function declareAll(): Promise<void> {
  for (const [kind, name, spec] of declared) {
    const metadata = { name, namespace: kind === 'ImageService' ? NAMESPACE : 'default' };
    await kubeApply(plane, path(kind, name), {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind, metadata, spec },
    });
  }
}

type Live = {
  metadata: { name: string };
  status?: { conditions?: { type: string; reason: string }[] };
};

const tenantKinds = ['Project', 'SigningKey', 'WatermarkPreset', 'Recipe'] as const;

async function reasons(): Promise<Record<string, string>> {
  const found = tenantKinds.map(async (kind) => {
    const { items } = (await kubeOk(plane, { path: path(kind) })) as { items: Live[] };
    return items.map(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return [`${kind} ${metadata.name}`, ready?.reason ?? ''];
    });
  });
  return Object.fromEntries((await Promise.all(found)).flat());
}

async function projectId(project_slug: string): Promise<string> {
  const rows = await db.query<{ project_id: string }>(
    'select project_id from projects where project_slug = $1',
    [project_slug],
  );
  return rows[0]?.project_id ?? '';
}

function untilAllInSync(): Promise<void> {
  return until(async () => {
    const tenant = declared.filter(([kind]) => kind !== 'ImageService');
    const wanted = tenant.map(([kind, name]) => [`${kind} ${name}`, 'InSync']);
    expect(await reasons()).toEqual(Object.fromEntries(wanted));
  });
}

/** The rows of each project, its presets, recipes and keys. */
async function rows() {
  return db.query(
    `select project_slug, status, suspended_by, owner_uid is not null as owned,
       (select name from watermark_presets where watermark_preset_id = default_watermark_preset_id) as default_watermark,
       (select array_agg(name order by name) from watermark_presets w where w.project_id = p.project_id) as presets,
       (select count(*)::int from recipes r where r.project_id = p.project_id) as recipes,
       (select count(*)::int from signing_keys k where k.project_id = p.project_id and status = 'active'
          and owner_uid is not null) as owned_keys
     from projects p order by project_slug`,
  );
}

const routes = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/ingresses`;

async function declareAndSettle(): Promise<void> {
  await declareAll();
  for (const name of ['shop', 'archive']) {
    await until(async () => expect(await projectId(name)).not.toBe(''));
    const project_id = await projectId(name);
    const files = await db.query('select from files where project_id = $1', [project_id]);
    if (files.length === 0) await makeFile(db, { project_id }, { file_slug: 'logo.png' });
  }
  await untilAllInSync();
  await until(async () => {
    const { items } = (await kubeOk(plane, { path: routes })) as { items: unknown[] };
    expect(items).not.toEqual([]);
  });
}

async function pauseProject(name: string): Promise<void> {
  await kubeRequest(plane, {
    method: 'PATCH',
    path: path('Project', name),
    body: { metadata: { annotations: { 'tintype.dev/paused': 'true' } } },
    content_type: 'application/merge-patch+json',
  });
  await until(async () => {
    const { status } = (await kubeOk(plane, { path: path('Project', name) })) as {
      status: { conditions: { type: string }[] };
    };
    expect(status.conditions.map(({ type }) => type)).toContain('Paused');
  });
}

/**
 * With foreground deletion, a Deployment exists for as long as its pods, and the operator is one of
 * them. Returns a function that ends the operator and lets the Deployment go.
 */
async function holdDeployment(): Promise<() => Promise<void>> {
  const at = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/tintype-operator`;
  const patch = (finalizers: readonly string[]) => ({
    ...{ method: 'PATCH', path: at, body: { metadata: { finalizers } } },
    content_type: 'application/merge-patch+json',
  });
  await kubeOk(plane, patch(['example.com/pod']));
  return async () => {
    await until(async () => {
      const { metadata } = await kubeOk(plane, { path: at });
      expect(metadata).toHaveProperty('deletionTimestamp');
    });
    const child = operator?.child;
    const ended = child === undefined ? undefined : once(child, 'exit');
    child?.kill('SIGTERM');
    await ended;
    await kill();
    await kubeOk(plane, patch([]));
  };
}

const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const core = `/api/v1/namespaces/${NAMESPACE}`;

/** Objects of others in the namespace of the operator. */
const kept = [
  [`${core}/secrets/tintype-keys`, 'Secret', { stringData: { keys } }],
  [
    `${core}/persistentvolumeclaims/tintype-db-1`,
    'PersistentVolumeClaim',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  [`${core}/services/cache`, 'Service', { spec: { ports: [{ port: 6379 }] } }],
  [`${core}/resourcequotas/ours`, 'ResourceQuota', { spec: { hard: { pods: '100' } } }],
] as const;

function definitions(): string {
  const kubeconfig = ['--kubeconfig', join(plane.folder, 'admin.kubeconfig')];
  return run('kubectl', [...kubeconfig, 'get', 'crd,namespace', '--output', 'name']);
}

describe('uninstalling the operator', { shuffle: false }, () => {
  describe('make uninstall while an operator leads', () => {
    it('waits until every resource was released, and removes no finalizer', async () => {
      await script('install.sh');
      await startInstalled();
      await declareAndSettle();

      const said = await script('uninstall.sh');
      expect(said).not.toContain('no operator');
      expect(said).toContain('no resource, definition or role of');
      expect(said).toMatch(
        /^deployment\.apps "tintype-operator" deleted[\s\S]*^role\.[\s\S]*^serviceaccount /m,
      );
      expect(definitions()).not.toContain('tintype');
      await until(async () => {
        const secret = { path: '/api/v1/namespaces/default/secrets/shop-hook' };
        expect((await kubeRequest(plane, secret)).status).toBe(404);
      });
      const logo = { default_watermark: 'logo', presets: ['logo'], recipes: 0, owned_keys: 0 };
      expect(await rows()).toEqual([
        { project_slug: 'archive', status: 'active', suspended_by: null, owned: false, ...logo },
        { project_slug: 'shop', status: 'suspended', suspended_by: 'owner', owned: false, ...logo },
      ]);
      await kill();
    }, 300_000);

    it('is undone by make install and the same resources', async () => {
      await script('install.sh');
      await startInstalled();
      await declareAndSettle();
      const all = {
        ...{ status: 'active', suspended_by: null, owned: true, default_watermark: 'logo' },
        ...{ presets: ['logo', 'small'], recipes: 1, owned_keys: 1 },
      };
      expect(await rows()).toEqual([
        { project_slug: 'archive', ...all },
        { project_slug: 'shop', ...all },
      ]);
    }, 300_000);

    it('stops the operator before it removes the remaining finalizers, and says why, so those rows stay', async () => {
      await pauseProject('shop');
      const endWithDeployment = await holdDeployment();
      const [said] = await Promise.all([
        script('uninstall.sh', { UNINSTALL_SECONDS: '10' }),
        endWithDeployment(),
      ]);
      const unhandled = said.split('\n').filter((line) => line.includes('no operator'));
      const stay = 'its finalizer is removed, and its rows stay as they are$';
      expect(unhandled).toEqual([
        expect.stringMatching(
          `^Project default/shop: no operator released it \\(its condition Ready says Paused: the deletion waits .*\\): ${stay}`,
        ),
        expect.stringMatching(
          `^WatermarkPreset default/shop-logo: .*Ready says InUseAsDefault.*${stay}`,
        ),
      ]);
      expect(definitions()).not.toContain('tintype');
      expect(await rows()).toMatchObject([
        { project_slug: 'archive', owned: false },
        { project_slug: 'shop', status: 'active', suspended_by: null, owned: true },
      ]);
    }, 300_000);

    it('warns that an operator which goes on leading treats the remaining resources as deleted', async () => {
      await script('install.sh');
      await startInstalled();
      await declareAndSettle();
      await pauseProject('shop');
      const said = await script('uninstall.sh', { UNINSTALL_SECONDS: '10' });
      const lease = `${NAMESPACE}/tintype-operator`;
      expect(said).toContain(
        `its finalizer is removed, and the operator that still leads (Lease ${lease}) treats it as deleted`,
      );
      expect(said).not.toContain('its rows stay as they are');
      await kill();
    }, 300_000);
  });

  // Both look at the same uninstall: the operator left its Lease behind, and others keep objects.
  let said: string;

  describe('make uninstall after the operator died', () => {
    it('waits for no operator, says so, and leaves the rows as they were', async () => {
      await script('install.sh');
      await startInstalled();
      await declareAndSettle();
      await kill();
      const before = await rows();
      for (const [place, kind, body] of kept) {
        const metadata = { name: place.split('/').at(-1), namespace: NAMESPACE };
        await kubeApply(plane, place, { apiVersion: 'v1', kind, metadata, ...body });
      }
      expect(await kubeOk(plane, { path: leases })).toMatchObject({ items: [{}] });
      said = await script('uninstall.sh');
      expect(said).toContain(
        'Project default/shop: no operator released it (its condition Ready says InSync: the project is as declared)',
      );
      expect(definitions()).not.toContain('tintype.dev');
      expect(await rows()).toEqual(before);
    }, 300_000);
  });

  describe('make uninstall if others keep objects beside the operator', () => {
    it('leaves the namespace with them, and says how to delete it', async () => {
      expect(said).toMatch(
        /^Namespace tintype-system stays, as it has objects that the install did not create: (.*)\. To delete it.*: \S*kubectl delete namespace tintype-system$/m,
      );
      const [, listed = ''] = /did not create: (.*?)\. To delete/.exec(said) ?? [];
      expect(listed.split(', ').toSorted()).toEqual([
        'PersistentVolumeClaim/tintype-db-1',
        'ResourceQuota/ours',
        'Secret/tintype-keys',
        'Service/cache',
      ]);
      for (const [place] of kept) {
        const { metadata } = (await kubeOk(plane, { path: place })) as { metadata: object };
        expect(metadata).not.toHaveProperty('deletionTimestamp');
      }
      expect(await kubeOk(plane, { path: leases })).toMatchObject({ items: [] });
      const kubeconfig = ['--kubeconfig', join(plane.folder, 'admin.kubeconfig')];
      const ours = run('kubectl', ['kustomize', 'config/default']);
      const words = ['get', '--ignore-not-found', '--output', 'name', '--filename', '-'];
      expect(run('kubectl', [...kubeconfig, ...words], ours)).toBe(`namespace/${NAMESPACE}\n`);
    }, 300_000);
  });
});
