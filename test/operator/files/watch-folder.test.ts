import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FolderOperator,
  type FolderOperatorOptions,
  startFolderOperator,
} from '../../../operator/files/watch-folder.ts';
import { findProjectBySlug, updateProject } from '../../../runtime/db/projects.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createSealing } from '../../../runtime/platform/sealing.ts';
import { removeSecretFiles, writeSecretFile } from '../../../runtime/standalone/secret-files.ts';
import { useDatabase } from '../../support/database.ts';
import { makeFile, makeOrganization } from '../../support/rows.ts';

const { db } = useDatabase();

let folder: string;
let slug: string;
let operator: FolderOperator | undefined;
let lines: { msg: string; [field: string]: unknown }[];
/** The folder of the keys that verify webhooks. */
let data: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-watch-'));
  slug = `p${randomBytes(5).toString('hex')}`;
  lines = [];
  data = await mkdtemp(join(tmpdir(), 'tintype-data-'));
});

afterEach(async () => {
  await operator?.stop();
  operator = undefined;
  await rm(folder, { recursive: true, force: true });
  await rm(data, { recursive: true });
});

async function start(
  options: Pick<FolderOperatorOptions, 'resync_ms' | 'onPass' | 'callback_egress'> = {},
): Promise<FolderOperator> {
  const { organization_id } = await makeOrganization(db);
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  operator = await startFolderOperator({
    folder,
    db,
    organization_id,
    sealing: createSealing([{ id: 'k1', key: randomBytes(32) }]),
    clock: systemClock,
    log: createLog({ level: 'debug', name: 'test', destination }),
    writeSecret: (secret) => writeSecretFile(data, secret),
    removeSecrets: (project) => removeSecretFiles(data, project),
    ...options,
  });
  return operator;
}

function projectFile(spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'Project',
    metadata: { name: slug },
    spec,
  });
}

const write = (name: string, text: string) => writeFile(join(folder, name), text);

const messages = () => lines.map(({ msg }) => msg);

describe('the folder operator', () => {
  it('has reconciled the folder when it has started', async () => {
    await write('a.yaml', projectFile());
    await start();
    expect(await findProjectBySlug(db, slug)).toMatchObject({ status: 'active' });
    expect(messages()).toEqual(['a declared resource is in effect']);
  });

  it('looks again soon for a resource that waits for an upload', async () => {
    await write('a.yaml', projectFile());
    const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'WatermarkPreset' };
    const spec = { projectRef: { name: slug }, fileSlug: 'logo.png' };
    await write('b.yaml', JSON.stringify({ ...head, metadata: { name: 'logo' }, spec }));
    let passes = 0;
    const onPass = async () => {
      passes += 1;
    };
    await start({ resync_ms: 3_600_000, onPass });
    // The second pass picks up changes made during the first one. No file triggers another pass.
    await expect.poll(() => passes).toBeGreaterThan(1);
    expect(messages()).toEqual(['a declared resource is in effect', 'a declared resource waits']);
    const { project_id = '' } = (await findProjectBySlug(db, slug)) ?? {};
    await makeFile(db, { project_id }, { file_slug: 'logo.png' });
    await expect.poll(() => lines.at(-1)).toMatchObject({ msg: messages()[0], name: 'logo' });
  });

  it('does not start on a folder that cannot be read, and says in one line what to do', async () => {
    const there = folder;
    folder = '/nowhere/at/all';
    await expect(start()).rejects.toThrow(
      '/nowhere/at/all: cannot be read (ENOENT), expected a folder of *.yaml files; create it, or name another one with --config',
    );
    folder = there;
  });

  it('acts on a file that is written, replaced or removed', async () => {
    await start();
    await write('a.yaml', projectFile({ displayName: 'One' }));
    await expect.poll(() => findProjectBySlug(db, slug)).toMatchObject({ name: 'One' });
    await write('.a.tmp', projectFile({ displayName: 'Two' }));
    await rename(join(folder, '.a.tmp'), join(folder, 'a.yaml'));
    await expect.poll(() => findProjectBySlug(db, slug)).toMatchObject({ name: 'Two' });
    await rm(join(folder, 'a.yaml'));
    await expect.poll(() => findProjectBySlug(db, slug)).toMatchObject({ status: 'suspended' });
    await expect.poll(messages).toContain('a deletion is in effect');
    const tells = { name: slug, reason: 'Deleted', advice: expect.stringContaining('suspended') };
    expect(lines.at(-1)).toMatchObject(tells);
  });

  it('heals rows that drifted although no file changed, and says what it undid', async () => {
    await write('a.yaml', projectFile({ displayName: 'Zero' }));
    await start({ resync_ms: 50 });
    await write('a.yaml', projectFile({ displayName: 'One' }));
    await expect.poll(() => findProjectBySlug(db, slug)).toMatchObject({ name: 'One' });
    const project = await findProjectBySlug(db, slug);
    const project_id = project?.project_id ?? '';
    await updateProject(db, { project_id, changes: { name: 'Drifted' } });
    await expect.poll(() => findProjectBySlug(db, slug)).toMatchObject({ name: 'One' });
    await expect.poll(() => lines).toHaveLength(3);
    const of = { kind: 'Project', name: slug, file: 'a.yaml', line: 1 };
    expect(lines).toMatchObject([
      { msg: 'a declared resource is in effect', ...of },
      { msg: 'a declared resource is in effect', ...of, changes: 'update' },
      {
        msg: 'undid changes that somebody else had made',
        ...of,
        changes: `~ projects ${slug} { name: "Drifted" → "One" }`,
      },
    ]);
  });

  it('reports a fault once, and again only when it changes', async () => {
    await write('a.yaml', projectFile({ state: 'Off' }));
    const { pass } = await start();
    await pass();
    await pass();
    const wrong = lines.filter(({ msg }) => msg === 'a declaration is wrong');
    expect(wrong).toMatchObject([
      {
        file: 'a.yaml',
        line: 1,
        path: 'spec.state',
        problem: 'expected Active or Suspended, got "Off"',
      },
    ]);
    await write('a.yaml', projectFile({ state: 'On' }));
    await pass();
    expect(messages().filter((msg) => msg === 'a declaration is wrong')).toHaveLength(2);
  });

  it('names only the file when a whole file is at fault', async () => {
    await write('a.yaml', '');
    const { pass } = await start();
    await pass();
    const wrong = lines.find(({ msg }) => msg === 'a declaration is wrong');
    expect(wrong).toMatchObject({ file: 'a.yaml', problem: expect.stringContaining('document') });
    expect(wrong).not.toHaveProperty('line');
    expect(wrong).not.toHaveProperty('path');
  });

  it('treats no resource as removed when the folder disappears while it runs', async () => {
    await write('a.yaml', projectFile());
    const { pass } = await start();
    await rm(folder, { recursive: true });
    const report = await pass();
    expect(report.faults).toHaveLength(1);
    expect(await findProjectBySlug(db, slug)).toMatchObject({ status: 'active' });
  });

  it('rewrites a secret file that was lost, and leaves an existing one untouched', async () => {
    const callback = { url: 'https://a.example/', secretName: 'hook' };
    await write('a.yaml', projectFile({ callback }));
    const { pass } = await start();
    const file = join(data, 'secrets', 'hook.json');
    const [text, { ctimeMs }] = [await readFile(file, 'utf8'), await stat(file)];
    await pass();
    expect((await stat(file)).ctimeMs).toBe(ctimeMs);
    await rm(file);
    await pass();
    expect(await readFile(file, 'utf8')).toBe(text);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('writes a secret with the longest name, beside others with the same prefix', async () => {
    const label = 'a'.repeat(60);
    const longest = `${[label, label, label, label].join('.')}.${'b'.repeat(9)}`;
    expect(longest).toHaveLength(253);
    const hook = (secretName: string) => ({ url: 'https://a.example/', secretName });
    const names = [longest, `${longest.slice(0, -1)}c`, longest.slice(0, 250), 'hook'];
    for (const [index, name] of names.entries()) {
      const text = projectFile({ callback: hook(name), slug: `${slug}${index}` });
      await write(`${index}.yaml`, text.replace(`"name":"${slug}"`, `"name":"${slug}${index}"`));
    }
    const { pass } = await start();
    const { resources } = await pass();
    expect(resources.map(({ outcome }) => outcome)).toEqual(Array(4).fill('done'));
    const files = await readdir(join(data, 'secrets'));
    expect(files).toHaveLength(4);
    expect(files).toContain('hook.json');
    expect(files).toContain(`${longest.slice(0, 250)}.json`);
  });

  it('removes the secret file of a callback whose URL is emptied or whose name changes, and no others', async () => {
    const other = projectFile({
      slug: `${slug}2`,
      callback: { url: 'https://a.example/', secretName: 'other' },
    }).replace(`"name":"${slug}"`, `"name":"${slug}2"`);
    await write('b.yaml', other);
    const callback = { url: 'https://a.example/', secretName: 'one' };
    const { pass } = await start();
    const filesWith = async (spec: object) => {
      await write('a.yaml', projectFile(spec));
      await pass();
      return (await readdir(join(data, 'secrets'))).toSorted();
    };
    expect(await filesWith({ callback })).toEqual(['one.json', 'other.json']);
    const renamed = { ...callback, secretName: 'two' };
    expect(await filesWith({ callback: renamed })).toEqual(['other.json', 'two.json']);
    expect(await filesWith({})).toEqual(['other.json', 'two.json']);
    expect(await filesWith({ callback: { url: '', secretName: 'other' } })).toEqual(['other.json']);
    const { secret } = JSON.parse(await readFile(join(data, 'secrets', 'other.json'), 'utf8'));
    expect(secret).toMatch(/^whsec_/);
  });

  it.each([
    ['public', 'CallbackNotPublic'],
    ['any', 'InSync'],
  ] as const)(
    'with callback_egress %s, reports %s for a private callback address',
    async (callback_egress, reason) => {
      const callback = { url: 'https://10.1.2.3/h', secretName: 'hook' };
      await write('a.yaml', projectFile({ callback }));
      const { pass } = await start({ callback_egress });
      expect((await pass()).resources).toMatchObject([{ reason }]);
    },
  );

  it('runs one pass at a time, and shares the running one among all that ask meanwhile', async () => {
    await write('a.yaml', projectFile());
    const { pass } = await start();
    const first = pass();
    const [second, third] = [pass(), pass()];
    expect(second).toBe(first);
    await first;
    expect(third).toBe(first);
    expect(pass()).not.toBe(first);
    await operator?.stop();
  });

  it('does no more work once it has stopped', async () => {
    const running = await start({ resync_ms: 20 });
    await running.stop();
    await write('a.yaml', projectFile());
    expect(await findProjectBySlug(db, slug)).toBeUndefined();
  });
});
