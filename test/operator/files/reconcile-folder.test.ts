import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identify } from '../../../operator/files/check-document.ts';
import {
  type FolderContext,
  type PassReport,
  reconcileFolder,
} from '../../../operator/files/reconcile-folder.ts';
import { newId } from '../../../runtime/core/ids.ts';
import { insertOrganization } from '../../../runtime/db/organizations.ts';
import { findProjectBySlug, updateProject } from '../../../runtime/db/projects.ts';
import { listRecipes } from '../../../runtime/db/recipes.ts';
import { insertSigningKey, listSigningKeys } from '../../../runtime/db/signing-keys.ts';
import { listWatermarkPresets } from '../../../runtime/db/watermark-presets.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { useDatabase } from '../../support/database.ts';
import { makeFile } from '../../support/rows.ts';

const { db } = useDatabase();
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);
const now = new Date('2026-11-20T10:30:00.000Z');

let folder: string;
let organization_id: string;
let secrets: [string, string][];
let clock: { now(): Date };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-pass-'));
  organization_id = newId('org', Date.now());
  await insertOrganization(db, { organization_id, name: 'Team', plan: 'trial' });
  secrets = [];
  clock = { now: () => now };
});

afterEach(async () => {
  await pass({});
  await rm(folder, { recursive: true, force: true });
});

/** Makes these the only files of the folder, and reconciles it. */
async function pass(
  files: Record<string, string>,
  also: Pick<FolderContext, 'beforeDeletions'> = {},
): Promise<PassReport> {
  await rm(folder, { recursive: true, force: true });
  folder = await mkdtemp(join(tmpdir(), 'tintype-pass-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return reconcileFolder(folder, {
    db,
    sealing,
    clock,
    organization_id,
    delivery_root_domain: 'images.example',
    writeSecret: async ({ name, value }) => void secrets.push([name, value]),
    removeSecrets: async () => undefined,
    ...also,
  });
}

function resource(kind: string, name: string, spec: object): string {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name } };
  return `${JSON.stringify({ ...head, spec })}\n`;
}

function chain(project: string) {
  return { projectRef: { name: project }, transformChain: 'quality/80' };
}

/** Each test uses slugs of its own, because projects are never deleted. */
function slug(): string {
  return `p${randomBytes(5).toString('hex')}`;
}

function outcomes(report: PassReport): string[] {
  return report.resources.map(({ identity, reason }) => `${identity.kind} ${reason}`);
}

async function project(name: string) {
  const row = await findProjectBySlug(db, name);
  if (row === undefined) throw new Error(`no project ${name}`);
  return row;
}

async function publishLogo(project_id: string): Promise<void> {
  await makeFile(db, { project_id }, { file_slug: 'logo.png' });
}

async function countPurges(project_id: string): Promise<number> {
  const rows = await db.query('select from purges where project_id = $1', [project_id]);
  return rows.length;
}

describe('a pass over the samples', () => {
  it('creates a public project with presets, a key and a recipe, while the watermark waits for its file', async () => {
    const samples = new URL('../../../config/samples', import.meta.url).pathname;
    const context = { db, sealing, clock, organization_id, delivery_root_domain: undefined };
    const handing = { writeSecret: async () => undefined, removeSecrets: async () => undefined };
    const report = await reconcileFolder(samples, { ...context, ...handing });
    expect(report.faults).toEqual([]);
    expect(outcomes(report)).toEqual([
      'Project InSync',
      'SigningKey InSync',
      'WatermarkPreset FileNotFound',
      'Recipe InSync',
    ]);
    expect(await project('demo')).toMatchObject({
      organization_id,
      status: 'active',
      delivery_access: 'public',
      allowed_transform_chains: [],
      resolution_presets: { thumb: 'resize/200x200/smart', hero: 'resize/1600x/format/webp' },
    });
    const again = await reconcileFolder(samples, { ...context, ...handing });
    expect(again.changes).toBe(0);
  });
});

describe('a pass over a folder', () => {
  it('changes nothing when it is run again', async () => {
    const name = slug();
    const files = {
      'a.yaml': resource('Project', name, {
        displayName: 'Shop',
        deliveryAccess: 'Protected',
        state: 'Active',
        corsAllowedOrigins: ['https://shop.example'],
        resolutionPresets: [{ name: 'thumb', chain: 'resize/200x200/smart' }],
        allowedTransformChains: ['preset:thumb'],
        rawDownload: 'Enabled',
        callback: { url: 'https://shop.example/hook', secretName: 'hook', rotationTrigger: '1' },
        staff: {
          customDomains: [`${name}.example`],
          storageHardLimit: '1Gi',
          pricingMultiplier: '1.5',
        },
      }),
      'b.yaml': resource('SigningKey', name, { projectRef: { name }, rotationTrigger: '1' }),
      'c.yaml': resource('Recipe', name, { projectRef: { name }, transformChain: 'quality/80' }),
    };
    expect((await pass(files)).changes).toBeGreaterThan(0);
    const before = await project(name);
    const audits = await db.query('select from audit_log');
    const again = await pass(files);
    expect(again.changes).toBe(0);
    expect(outcomes(again)).toEqual(['Project InSync', 'SigningKey InSync', 'Recipe InSync']);
    expect(await project(name)).toEqual(before);
    expect(await db.query('select from audit_log')).toHaveLength(audits.length);
  });

  it('creates the first signing key of a project', async () => {
    const name = slug();
    await pass({ 'a.yaml': resource('Project', name, {}) });
    const keys = await listSigningKeys(db, (await project(name)).project_id);
    expect(keys.map(({ status }) => status)).toEqual(['active']);
  });

  it('reverts drift of declared fields, keeps fields that are not declared, and purges what changed', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, { deliveryAccess: 'Protected' }) };
    await pass(files);
    const { project_id, generation } = await project(name);
    await updateProject(db, {
      project_id,
      changes: { delivery_access: 'public', name: 'By hand', raw_download_enabled: true },
    });
    await pass(files);
    expect(await project(name)).toMatchObject({
      delivery_access: 'protected',
      name: 'By hand',
      raw_download_enabled: true,
      generation: generation + 1,
    });
    expect(await countPurges(project_id)).toBe(2);
  });

  it('writes one audit entry that lists its changes', async () => {
    const name = slug();
    await pass({ 'a.yaml': resource('Project', name, {}) });
    const { project_id } = await project(name);
    expect(
      await db.query(
        `select actor_kind, action, after->'changes' as changes from audit_log where project_id = $1`,
        [project_id],
      ),
    ).toEqual([
      {
        actor_kind: 'operator',
        action: 'Project.declare',
        changes: ['create', 'claim', 'issue-signing-key'],
      },
    ]);
  });

  it.each([
    ['declared active', { state: 'Active' }],
    ['without a declared state', {}],
  ])('keeps and reports a suspension by staff of a project %s', async (_what, spec) => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, spec) };
    await pass(files);
    const { project_id } = await project(name);
    const changes = { status: 'suspended', suspended_by: 'staff' } as const;
    await updateProject(db, { project_id, changes });
    const report = await pass(files);
    expect(outcomes(report)).toEqual(['Project SuspendedByStaff']);
    expect(await project(name)).toMatchObject(changes);
  });

  it('skips broken documents and applies the others', async () => {
    const name = slug();
    const report = await pass({
      'a.yaml': 'kind: [',
      'b.yaml': resource('Project', name, { state: 'Off' }),
      'c.yaml': resource('Project', slug(), {}),
    });
    expect(report.faults).toHaveLength(2);
    expect(outcomes(report)).toEqual(['Project InSync']);
  });
});

describe('a project', () => {
  it('that was made through the API is left alone until adoption is declared', async () => {
    const name = slug();
    const project_id = newId('prj', Date.now());
    await db.query(
      'insert into projects (project_id, organization_id, project_slug, name) values ($1, $2, $3, $3)',
      [project_id, organization_id, name],
    );
    const refused = await pass({ 'a.yaml': resource('Project', name, { displayName: 'Mine' }) });
    expect(outcomes(refused)).toEqual(['Project NotOwned']);
    expect(await project(name)).toMatchObject({ name, owner_uid: null });
    await pass({
      'a.yaml': resource('Project', name, { displayName: 'Mine', adoptionPolicy: 'IfUnowned' }),
    });
    expect(await project(name)).toMatchObject({ project_id, name: 'Mine', owner_name: name });
  });

  it('claimed by two resources stays with the first, also when the second is removed', async () => {
    const name = slug();
    const first = { 'a.yaml': resource('Project', 'a', { slug: name }) };
    await pass(first);
    const both = {
      ...first,
      'b.yaml': resource('Project', 'b', { slug: name, state: 'Suspended' }),
    };
    expect(outcomes(await pass(both))).toEqual(['Project InSync', 'Project SlugConflict']);
    expect(await pass(first)).toMatchObject({ changes: 0 });
    expect(await project(name)).toMatchObject({ status: 'active', owner_name: 'a' });
  });

  it('is suspended when its document is removed, and active again when it comes back', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, {}) };
    await pass(files);
    expect(outcomes(await pass({}))).toEqual(['Project Deleted']);
    expect(await project(name)).toMatchObject({ status: 'suspended', suspended_by: 'owner' });
    expect(outcomes(await pass({}))).toEqual([]);
    await pass(files);
    expect(await project(name)).toMatchObject({ status: 'active', owner_name: name });
  });

  it('stays active when its document is removed, if deletionPolicy is Retain', async () => {
    const name = slug();
    await pass({ 'a.yaml': resource('Project', name, { deletionPolicy: 'Retain' }) });
    expect(outcomes(await pass({}))).toEqual(['Project Retained']);
    expect(await project(name)).toMatchObject({ status: 'active', owner_uid: null });
  });

  it('is not treated as removed while its file is away to be saved', async () => {
    const name = slug();
    await pass({ 'p.yaml': resource('Project', name, { displayName: 'One' }) });
    let looks = 0;
    const beforeDeletions = async () => {
      looks += 1;
      const text = resource('Project', name, { displayName: 'Two' });
      await writeFile(join(folder, 'p.yaml'), text);
    };
    expect(outcomes(await pass({}, { beforeDeletions }))).toEqual(['Project InSync']);
    expect(await project(name)).toMatchObject({ name: 'Two', status: 'active' });
    expect(looks).toBe(1);
  });

  it('is not treated as removed when its document moves into a List', async () => {
    const name = slug();
    const item = resource('Project', name, { displayName: 'Shop' });
    await pass({ 'a.yaml': item });
    const list = { apiVersion: 'v1', kind: 'List', items: [JSON.parse(item)] };
    const { notes } = await pass({ 'a.yaml': JSON.stringify(list) });
    expect(notes).toEqual([]);
    expect(await project(name)).toMatchObject({ status: 'active', owner_name: name, name: 'Shop' });
  });

  it('stays the same project with a namespace in its metadata, as kubectl prints it, and without', async () => {
    const name = slug();
    const printed = { namespace: 'shop', kind: 'Recipe', uid: '1' };
    const files = (metadata: object) => {
      const item = JSON.parse(resource('Project', name, {}));
      item.metadata = { ...item.metadata, ...metadata };
      return {
        'a.yaml': JSON.stringify(item),
        'b.yaml': resource('SigningKey', name, { projectRef: { name } }),
      };
    };
    expect(outcomes(await pass(files(printed)))).toEqual(['Project InSync', 'SigningKey InSync']);
    expect(await project(name)).toMatchObject({ owner_namespace: organization_id });
    expect(await pass(files({}))).toMatchObject({ changes: 0, faults: [] });
    await pass({});
    expect(await project(name)).toMatchObject({ status: 'suspended', suspended_by: 'owner' });
  });

  it('gets its rows back by migration 0071 if they carry the namespace of its metadata', async () => {
    const name = slug();
    const files = {
      'a.yaml': resource('Project', name, {}),
      'b.yaml': resource('SigningKey', name, { projectRef: { name } }),
      'c.yaml': resource('Recipe', name, chain(name)),
    };
    await pass(files);
    const { project_id } = await project(name);
    const rows = async () => [
      await project(name),
      ...(await listRecipes(db, project_id)),
      ...(await listSigningKeys(db, project_id)),
    ];
    const before = await rows();
    for (const [kind, table] of [
      ['Project', 'projects'],
      ['SigningKey', 'signing_keys'],
      ['Recipe', 'recipes'],
    ] as const) {
      const { uid } = identify({ namespace: 'shop', kind, name });
      await db.query(
        `update ${table} set owner_namespace = 'shop', owner_uid = $2 where project_id = $1`,
        [project_id, uid],
      );
    }
    expect(outcomes(await pass(files))).toContain('Project SlugConflict');
    const migration = '../../../runtime/db/migrations/0071_identities_of_folders.sql';
    const text = await readFile(new URL(migration, import.meta.url), 'utf8');
    await db.query(text.split('-- Down Migration')[0] ?? '');
    expect(await pass(files)).toMatchObject({ changes: 0, faults: [] });
    expect(await rows()).toEqual(before);
  });

  it.each(['tintype.dev', 'tintype.io/v1alpha1', 'titype.dev/v1alpha1', 'v1'])(
    'is not treated as removed while its apiVersion is %s',
    async (apiVersion) => {
      const name = slug();
      const text = resource('Project', name, {});
      await pass({ 'a.yaml': text });
      await pass({ 'a.yaml': JSON.stringify({ ...JSON.parse(text), apiVersion }) });
      expect(await project(name)).toMatchObject({ status: 'active', owner_name: name });
    },
  );

  it('is not treated as removed while its file is unreadable or its document is invalid', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, {}) };
    await pass(files);
    await pass({ 'a.yaml': 'kind: [' });
    await pass({ 'a.yaml': resource('Project', name, { state: 'Off' }) });
    expect(await project(name)).toMatchObject({ status: 'active', owner_name: name });
  });
});

describe('a callback', () => {
  const callback = { url: 'https://shop.example/hook', secretName: 'hook' };

  it('gets a secret, and with a new rotationTrigger another one beside the previous one', async () => {
    const name = slug();
    const files = (rotationTrigger: string) => ({
      'a.yaml': resource('Project', name, { callback: { ...callback, rotationTrigger } }),
    });
    await pass(files('1'));
    const [[, first = ''] = []] = secrets;
    expect(secrets).toEqual([['hook', expect.stringMatching(/^whsec_/)]]);
    await pass(files('1'));
    expect(secrets.at(-1)).toEqual(['hook', first]);
    expect((await project(name)).previous_callback_secret_sealed).toBeNull();
    await pass(files('2'));
    expect(secrets.at(-1)?.[1]).not.toBe(first);
    expect((await project(name)).previous_callback_secret_sealed).not.toBeNull();
  });

  it('with a private address is stored and reported as CallbackNotPublic, and all else takes effect', async () => {
    const name = slug();
    const files = (spec: object) => ({ 'a.yaml': resource('Project', name, spec) });
    for (const [url, reason] of [
      ['https://shop.example/h', 'InSync'],
      ['https://10.1.2.3/h', 'CallbackNotPublic'],
      ['https://[::1]:8443/h', 'CallbackNotPublic'],
      ['https://1.1.1.1/h', 'InSync'],
    ] as const) {
      const displayName = `Shop of ${url}`;
      const report = await pass(files({ callback: { ...callback, url }, displayName }));
      expect(outcomes(report)).toEqual([`Project ${reason}`]);
      const sealed = expect.anything();
      expect(await project(name)).toMatchObject({
        ...{ name: displayName, callback_url: url, callback_secret_sealed: sealed },
      });
    }
    expect(secrets.length).toBe(4);
  });

  it('of a Project that comes back keeps its secret with the same trigger, and rotates it with a new one', async () => {
    const name = slug();
    const files = (spec: object) => ({ 'a.yaml': resource('Project', name, spec) });
    const triggered = (rotationTrigger: string) => ({ callback: { ...callback, rotationTrigger } });
    await pass(files({ callback }));
    await pass({});
    await pass(files(triggered('1')));
    await pass({});
    await pass(files(triggered('1')));
    expect(new Set(secrets.map(([, secret]) => secret)).size).toBe(1);
    await pass({});
    await pass(files(triggered('2')));
    expect(secrets.at(-1)).not.toEqual(secrets.at(-2));
    const { callback_rotation_trigger, ...row } = await project(name);
    expect(callback_rotation_trigger).toBe('2');
    expect(row.previous_callback_secret_sealed).not.toBeNull();
  });
});

describe('a SigningKey', () => {
  it('takes over the first key and rotates on a new trigger, while the old key keeps verifying', async () => {
    const name = slug();
    const files = (rotationTrigger: string) => ({
      'a.yaml': resource('Project', name, {}),
      'b.yaml': resource('SigningKey', 'k', { projectRef: { name }, rotationTrigger }),
    });
    await pass(files('1'));
    const { project_id } = await project(name);
    const [first] = await listSigningKeys(db, project_id);
    await pass(files('1'));
    expect(await listSigningKeys(db, project_id)).toEqual([first]);
    await pass(files('2'));
    const keys = await listSigningKeys(db, project_id);
    expect(
      keys.map(({ status, is_verifying, owner_name }) => [status, is_verifying, owner_name]),
    ).toEqual([
      ['active', true, 'k'],
      ['retired', true, 'k'],
    ]);
    expect((await pass(files('2'))).changes).toBe(0);
  });

  it('rotates a key that is older than rotationDays', async () => {
    const name = slug();
    const files = {
      'a.yaml': resource('Project', name, {}),
      'b.yaml': resource('SigningKey', 'k', { projectRef: { name }, rotationDays: 30 }),
    };
    clock = { now: () => new Date() };
    await pass(files);
    clock = { now: () => new Date(Date.now() + 31 * 86_400_000) };
    await pass(files);
    expect(await listSigningKeys(db, (await project(name)).project_id)).toHaveLength(2);
  });

  it('is refused without any change if the project has another SigningKey', async () => {
    const name = slug();
    const key = (kind: string) => resource('SigningKey', kind, { projectRef: { name } });
    const files = { 'a.yaml': resource('Project', name, {}), 'b.yaml': key('k1') };
    await pass(files);
    const both = await pass({ ...files, 'c.yaml': key('k2') });
    expect(outcomes(both)).toEqual([
      'Project InSync',
      'SigningKey InSync',
      'SigningKey SigningKeyTaken',
    ]);
    expect(both.changes).toBe(0);
  });

  it('that is removed leaves its key for another SigningKey to take over', async () => {
    const name = slug();
    const projects = { 'a.yaml': resource('Project', name, {}) };
    const key = (kind: string) => resource('SigningKey', kind, { projectRef: { name } });
    await pass({ ...projects, 'b.yaml': key('k1') });
    await pass({ ...projects, 'b.yaml': key('k2') });
    const keys = await listSigningKeys(db, (await project(name)).project_id);
    expect(keys.map(({ owner_name }) => owner_name)).toEqual(['k2']);
  });

  it('creates a new key if its key was lost', async () => {
    const name = slug();
    const files = {
      'a.yaml': resource('Project', name, {}),
      'b.yaml': resource('SigningKey', 'k', { projectRef: { name } }),
    };
    await pass(files);
    const { project_id } = await project(name);
    await db.query('delete from signing_keys where project_id = $1', [project_id]);
    await pass(files);
    expect(await listSigningKeys(db, project_id)).toHaveLength(1);
    await expect(
      insertSigningKey(db, { kid: newId('kid', 0), project_id, secret_sealed: Buffer.from('x') }),
    ).rejects.toThrow();
  });
});

describe('a WatermarkPreset', () => {
  const preset = (name: string, spec: object = {}) =>
    resource('WatermarkPreset', 'logo', { projectRef: { name }, fileSlug: 'logo.png', ...spec });
  const named = { defaultWatermarkPresetRef: { name: 'logo' } };

  it('waits for its file, then becomes the default of its project within one pass', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, named), 'b.yaml': preset(name) };
    expect(outcomes(await pass(files))).toEqual([
      'Project WatermarkPresetNotFound',
      'WatermarkPreset FileNotFound',
    ]);
    const { project_id } = await project(name);
    await publishLogo(project_id);
    expect(outcomes(await pass(files))).toEqual(['Project InSync', 'WatermarkPreset InSync']);
    const [row] = await listWatermarkPresets(db, project_id);
    expect((await project(name)).default_watermark_preset_id).toBe(row?.watermark_preset_id);
    expect((await pass(files)).changes).toBe(0);
  });

  it('purges its project when it is created or changes what is drawn, and not otherwise', async () => {
    const name = slug();
    const projects = { 'a.yaml': resource('Project', name, {}) };
    await pass(projects);
    const { project_id, generation } = await project(name);
    await publishLogo(project_id);
    // An edge may have cached images with the fallback watermark under the preset's ID.
    await pass({ ...projects, 'b.yaml': preset(name) });
    expect((await project(name)).generation).toBe(generation + 1);
    await pass({ ...projects, 'b.yaml': preset(name) });
    expect((await project(name)).generation).toBe(generation + 1);
    await pass({ ...projects, 'b.yaml': preset(name, { xOffset: 5 }) });
    expect((await project(name)).generation).toBe(generation + 2);
  });

  it('may be removed together with the reference to it', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, named), 'b.yaml': preset(name) };
    await pass(files);
    const { project_id } = await project(name);
    await publishLogo(project_id);
    await pass(files);
    const report = await pass({ 'a.yaml': resource('Project', name, {}) });
    expect(outcomes(report)).toEqual(['WatermarkPreset Deleted', 'Project InSync']);
    expect(await listWatermarkPresets(db, project_id)).toEqual([]);
  });

  it('may take over the name of the default preset that is removed in the same pass', async () => {
    const name = slug();
    const files = (resourceName: string) => ({
      'a.yaml': resource('Project', name, { defaultWatermarkPresetRef: { name: resourceName } }),
      'b.yaml': resource('WatermarkPreset', resourceName, {
        ...{ projectRef: { name }, displayName: 'Corner', fileSlug: 'logo.png' },
      }),
    });
    await pass(files('one'));
    const { project_id } = await project(name);
    await publishLogo(project_id);
    await pass(files('one'));
    expect(outcomes(await pass(files('two')))).toEqual([
      'WatermarkPreset Deleted',
      'Project InSync',
      'WatermarkPreset InSync',
    ]);
    const rows = await listWatermarkPresets(db, project_id);
    expect(rows).toMatchObject([{ name: 'Corner', owner_name: 'two' }]);
    expect((await project(name)).default_watermark_preset_id).toBe(rows[0]?.watermark_preset_id);
  });

  it('that is removed stays while its project names it as the default', async () => {
    const name = slug();
    const files = { 'a.yaml': resource('Project', name, named), 'b.yaml': preset(name) };
    await pass(files);
    const { project_id } = await project(name);
    await publishLogo(project_id);
    await pass(files);
    const report = await pass({ 'a.yaml': resource('Project', name, named) });
    expect(outcomes(report)).toEqual([
      'WatermarkPreset InUseAsDefault',
      'Project WatermarkPresetNotFound',
    ]);
    expect(await listWatermarkPresets(db, project_id)).toHaveLength(1);
  });
});

describe('a Recipe', () => {
  it('is created, changed and deleted with its document', async () => {
    const name = slug();
    const projects = { 'a.yaml': resource('Project', name, {}) };
    const recipe = (transformChain: string) =>
      resource('Recipe', 'card', { projectRef: { name }, transformChain });
    const rows = async () =>
      db.query('select name, transform_chain from recipes where project_id = $1', [
        (await project(name)).project_id,
      ]);
    await pass({ ...projects, 'b.yaml': recipe('quality/80') });
    expect(await rows()).toEqual([{ name: 'card', transform_chain: 'quality/80' }]);
    await pass({ ...projects, 'b.yaml': recipe('quality/70') });
    expect(await rows()).toEqual([{ name: 'card', transform_chain: 'quality/70' }]);
    await pass(projects);
    expect(await rows()).toEqual([]);
  });

  it('may take over the name of a recipe that is removed in the same pass', async () => {
    const name = slug();
    const projects = { 'a.yaml': resource('Project', name, {}) };
    const recipe = (kind: string) =>
      resource('Recipe', kind, {
        projectRef: { name },
        displayName: 'Card',
        transformChain: 'quality/80',
      });
    await pass({ ...projects, 'b.yaml': recipe('one') });
    const report = await pass({ ...projects, 'b.yaml': recipe('two') });
    expect(outcomes(report)).toEqual(['Recipe Deleted', 'Project InSync', 'Recipe InSync']);
  });

  it('may take over the name of a recipe that is renamed in the same pass', async () => {
    const name = slug();
    const recipe = (kind: string, displayName: string) =>
      resource('Recipe', kind, { projectRef: { name }, displayName, transformChain: 'quality/80' });
    const projects = { 'a.yaml': resource('Project', name, {}) };
    await pass({ ...projects, 'b.yaml': recipe('one', 'A'), 'c.yaml': recipe('two', 'B') });
    const report = await pass({
      ...projects,
      'b.yaml': recipe('one', 'B'),
      'c.yaml': recipe('two', 'C'),
    });
    expect(outcomes(report)).toEqual(['Project InSync', 'Recipe InSync', 'Recipe InSync']);
  });

  it('may swap names with another', async () => {
    const name = slug();
    const recipes = (one: string, two: string) => ({
      'a.yaml': resource('Project', name, {}),
      'b.yaml': resource('Recipe', 'one', { ...chain(name), displayName: one }),
      'c.yaml': resource('Recipe', 'two', { ...chain(name), displayName: two }),
    });
    await pass(recipes('A', 'B'));
    const report = await pass(recipes('B', 'A'));
    expect(outcomes(report)).toEqual(['Project InSync', 'Recipe InSync', 'Recipe InSync']);
    const { project_id } = await project(name);
    const rows = await listRecipes(db, project_id);
    expect(new Map(rows.map((row) => [row.owner_name, row.name]))).toEqual(
      new Map([
        ['one', 'B'],
        ['two', 'A'],
      ]),
    );
  });

  it('without its project waits, and says what it waits for', async () => {
    const recipe = resource('Recipe', 'card', {
      projectRef: { name: 'nowhere' },
      transformChain: 'quality/80',
    });
    const report = await pass({ 'a.yaml': recipe });
    expect(report.resources.map(({ outcome, message }) => [outcome, message])).toEqual([
      ['waiting', "there is no Project 'nowhere' yet"],
    ]);
  });
});
