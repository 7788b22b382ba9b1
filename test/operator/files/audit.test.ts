// Spec: Project. The audit log records what an operator changed, before and after, for each kind.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcileFolder } from '../../../operator/files/reconcile-folder.ts';
import { newId } from '../../../runtime/core/ids.ts';
import { insertOrganization } from '../../../runtime/db/organizations.ts';
import { findProjectBySlug } from '../../../runtime/db/projects.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { useDatabase } from '../../support/database.ts';
import { makeFile, must } from '../../support/rows.ts';

const { db } = useDatabase();
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);
const organization_id = newId('org', Date.now());
const name = `p${randomBytes(5).toString('hex')}`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-audit-'));
  await insertOrganization(db, { organization_id, name: 'Team', plan: 'trial' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Specs = Record<string, object | undefined>;

/**
 * Makes these the only resources, all named `it`, except the project, which is named by its slug.
 */
async function pass(specs: Specs): Promise<void> {
  const kinds = Object.entries(specs).filter(([, spec]) => spec !== undefined);
  const texts = kinds.map(([kind, spec]) => {
    const metadata = { name: kind === 'Project' ? name : 'it' };
    const written = kind === 'Project' ? spec : { projectRef: { name }, ...spec };
    return JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind, metadata, spec: written });
  });
  await writeFile(join(folder, 'all.yaml'), texts.join('\n---\n'));
  await reconcileFolder(folder, {
    db,
    sealing,
    clock: { now: () => new Date() },
    organization_id,
    delivery_root_domain: 'images.example',
    writeSecret: async () => undefined,
    removeSecrets: async () => undefined,
  });
}

/** The newest entry of a kind. */
async function entryOf(kind: string) {
  const [entry] = await db.query<{ before: Rows | null; after: Rows & { changes: string[] } }>(
    `select before, after from audit_log where action like $1 order by created_at desc, audit_id desc limit 1`,
    [`${kind}.%`],
  );
  return entry;
}
type Rows = { rows: Record<string, unknown>[] };

it('the audit entry of a project has its settings before and after, but no secret and no callback path', async () => {
  await pass({ Project: { displayName: 'One' } });
  const callback = { url: 'https://hooks.example/a-secret-path', secretName: 'hook' };
  await pass({ Project: { displayName: 'Two', callback } });
  const entry = await entryOf('Project');
  const table = { table: 'projects', row: name };
  expect(entry?.before?.rows).toContainEqual({ ...table, name: 'One' });
  expect(entry?.after.rows).toContainEqual({ ...table, name: 'Two' });
  expect(entry?.after.rows).toContainEqual(
    expect.objectContaining({
      callback_url: 'https://hooks.example',
      callback_secret_sealed: 'a new secret',
    }),
  );
  expect(JSON.stringify(entry)).not.toContain('a-secret-path');
});

it('the audit entry of a project has its new price, and the version of the project increases', async () => {
  const priced = (pricingMultiplier: string) => ({ Project: { staff: { pricingMultiplier } } });
  await pass(priced('1.25'));
  const before = must(await findProjectBySlug(db, name));
  await pass(priced('1.50'));
  const after = must(await findProjectBySlug(db, name));
  expect(after.version).toBe(before.version + 1);
  expect(Number(after.pricing_multiplier)).toBe(1.5);
  const table = 'project_pricing';
  expect((await entryOf('Project'))?.after.rows).toMatchObject([{ table, multiplier: '1.50' }]);
});

it('the audit entries of a recipe have its row before and after creation, update and deletion', async () => {
  const [Project, one, two] = [{}, 'quality/50', 'quality/60'];
  await pass({ Project, Recipe: { transformChain: one } });
  expect(await entryOf('Recipe')).toMatchObject({
    before: null,
    after: { rows: [{ table: 'recipes', row: 'it', transform_chain: one }] },
  });
  await pass({ Project, Recipe: { transformChain: two } });
  expect(await entryOf('Recipe')).toMatchObject({
    before: { rows: [{ transform_chain: one }] },
    after: { rows: [{ transform_chain: two }] },
  });
  await pass({ Project });
  expect(await entryOf('Recipe')).toMatchObject({
    before: { rows: [{ name: 'it', transform_chain: two }] },
    after: { changes: ['delete'], rows: [] },
  });
});

it('the audit entries of a watermark preset have its row before and after each change', async () => {
  await pass({ Project: {} });
  const project = must(await findProjectBySlug(db, name));
  await makeFile(db, project, { file_slug: 'logo.png' });
  const preset = (xOffset: number) => ({
    Project: {},
    WatermarkPreset: { fileSlug: 'logo.png', xOffset },
  });
  await pass(preset(1));
  expect(await entryOf('WatermarkPreset')).toMatchObject({
    before: null,
    after: { rows: [{ table: 'watermark_presets', x_offset: 1 }] },
  });
  await pass(preset(2));
  expect(await entryOf('WatermarkPreset')).toMatchObject({
    before: { rows: [{ x_offset: 1 }] },
    after: { rows: [{ x_offset: 2 }] },
  });
  await pass({ Project: {} });
  expect((await entryOf('WatermarkPreset'))?.before?.rows).toMatchObject([{ x_offset: 2 }]);
});

it('the audit entry of a key rotation has the active key before, the retired and the new key after', async () => {
  const key = (rotationTrigger: string) => ({ Project: {}, SigningKey: { rotationTrigger } });
  await pass(key('one'));
  expect((await entryOf('SigningKey'))?.after.rows).toMatchObject([{ rotation_trigger: 'one' }]);
  await pass(key('two'));
  expect(await entryOf('SigningKey')).toMatchObject({
    before: { rows: [{ status: 'active' }] },
    after: { rows: [{ status: 'retired' }, { kid: 'a new key', rotation_trigger: 'two' }] },
  });
});
