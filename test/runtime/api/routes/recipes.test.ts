// Spec: Recipe; Endpoints, Recipes.
import { beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import { recipeRecord } from '../../../../runtime/core/resources/recipe.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { id } from '../../../support/rows.ts';

const api = useApi();
const subject = newSubject();
const owner = api.session(subject);
let project: ProjectRecord;
let path: string;
let key: Caller;

beforeEach(async () => {
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}/recipes`;
  key = api.withKey(
    await createKey(owner, project.project_slug, ['recipes:read', 'recipes:write']),
  );
});

const hero = { name: 'hero', transform_chain: 'resize/1600x/format/webp', schema_version: 1 };
const put = (body: unknown = hero, at = path) => key('PUT', at, body);
const setPresets = (resolution_presets: Record<string, string>) =>
  owner('PATCH', `/v1/projects/${project.project_slug}`, { resolution_presets });

const audited = () => auditEntries(api.db, project, 'recipe%');

describe('PUT …/recipes', () => {
  it('returns 201 with the record, and creates a new recipe on every call', async () => {
    const first = await put();
    expect(first.status).toBe(201);
    expectRecord(recipeRecord, first.body);
    expect(first.body).toMatchObject({ ...hero, valid: true });
    const second = await put({ name: ' other ', transform_chain: 'quality/50' });
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({ name: 'other', schema_version: 1 });
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('returns 409 recipe_name_taken within the project, without an audit entry', async () => {
    await put();
    const before = await audited();
    expect(codeOf(await put())).toBe('409 recipe_name_taken');
    expect(await audited()).toEqual(before);
    const { project_slug } = await createProject(owner);
    expect((await owner('PUT', `/v1/projects/${project_slug}/recipes`, hero)).status).toBe(201);
  });

  it('creates one recipe for fifty concurrent requests with one name, under new and given ids', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => put(hero, n % 2 === 0 ? path : `${path}/${id('rcp')}`)),
    );
    const codes = answers.filter(({ status }) => status !== 201).map(codeOf);
    expect(codes).toEqual(Array.from({ length: 49 }, () => '409 recipe_name_taken'));
    expect((await key('GET', path)).body.items).toHaveLength(1);
    expect(await audited()).toHaveLength(1);
  });

  it.each([
    [{ transform_chain: 'quality/50' }, 'name'],
    [{ name: 'a' }, 'transform_chain'],
    [{ ...hero, name: ' ' }, 'name'],
    [{ ...hero, name: 'x'.repeat(121) }, 'name'],
    [{ ...hero, transform_chain: '' }, 'transform_chain'],
    [{ ...hero, transform_chain: 'originals' }, 'transform_chain'],
    [{ ...hero, transform_chain: '/quality/50/' }, 'transform_chain'],
    [{ ...hero, transform_chain: 'quality/50/quality/60' }, 'transform_chain'],
    [{ ...hero, transform_chain: 'Quality/50' }, 'transform_chain'],
    [{ ...hero, transform_chain: 'crop/0,0,0,0' }, 'transform_chain'],
    [{ ...hero, transform_chain: 'crop/5,5,10,0/resize/10x10' }, 'transform_chain'],
    [{ ...hero, transform_chain: null }, 'transform_chain'],
    [{ ...hero, schema_version: 2 }, 'schema_version'],
    [{ ...hero, schema_version: '1' }, 'schema_version'],
    [{ ...hero, color: 'red' }, 'color'],
  ])('returns 400 invalid_request for %j', async (body, field) => {
    const answer = await put(body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(issuesOf(answer)).toEqual([field]);
  });

  it('names the wrong id, body fields and preset together', async () => {
    const wrong = await owner('PUT', `/v1/projects/${project.project_slug}/recipes/bad-id`, {
      name: '',
      transform_chain: 'preset:nowhere',
      schema_version: 2,
    });
    expect(codeOf(wrong)).toBe('400 invalid_request');
    expect(issuesOf(wrong)).toEqual(['id', 'transform_chain', 'name', 'schema_version']);
  });

  it('accepts a preset only if the project has it, and names the existing ones otherwise', async () => {
    const input = { name: 'small', transform_chain: 'preset:thumb/quality/60' };
    const none = await put(input);
    expect(codeOf(none)).toBe('400 invalid_request');
    expect(none.text).toContain('the project has none');
    await setPresets({ thumb: 'resize/200x200', fine: 'quality/90' });
    expect((await put(input)).body).toMatchObject({ ...input, valid: true });
    const unknown = await put({ name: 'b', transform_chain: 'preset:thum' });
    expect(issuesOf(unknown)).toEqual(['transform_chain']);
    expect(unknown.text).toContain('fine, thumb');
    const twice = await put({ name: 'b', transform_chain: 'preset:fine/quality/60' });
    expect(issuesOf(twice)).toEqual(['transform_chain']);
  });
});

describe('the limit of 1,000 recipes', () => {
  it('returns 409 recipe_quota_exceeded, even to concurrent requests, but allows replacing', async () => {
    const { project_id } = project;
    await api.db.query(
      `insert into recipes (recipe_id, project_id, name, transform_chain)
       select $2 || lpad(n::text, 10, '0'), $1, 'r' || n, 'quality/50' from generate_series(1, 998) n`,
      [project_id, id('rcp').slice(0, -10)],
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => put({ ...hero, name: `late ${n}` })),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter((answer) => codeOf(answer) === '409 recipe_quota_exceeded');
    expect([made.length, refused.length]).toEqual([2, 4]);
    expect((await put(hero, `${path}/${made[0]?.body.id}`)).status).toBe(200);
    expect(codeOf(await put(hero, `${path}/${id('rcp')}`))).toBe('409 recipe_quota_exceeded');
    expect((await key('GET', path)).body.items).toHaveLength(1000);
    await key('DELETE', `${path}/${made[1]?.body.id}`);
    expect((await put({ ...hero, name: 'room' })).status).toBe(201);
  });
});

describe('GET …/recipes', () => {
  it('returns every recipe, newest first, with next_cursor null', async () => {
    expect((await key('GET', path)).body).toEqual({ items: [], next_cursor: null });
    const first = (await put()).body;
    const second = (await put({ ...hero, name: 'other' })).body;
    expect((await key('GET', path)).body).toEqual({ items: [second, first], next_cursor: null });
  });

  it('returns valid: false while a chain names a missing preset or no longer parses', async () => {
    await setPresets({ thumb: 'resize/200x200' });
    const made = (await put({ name: 'small', transform_chain: 'preset:thumb' })).body;
    const validity = async () =>
      (await key('GET', path)).body.items.map(({ valid }: { valid: boolean }) => valid);
    await setPresets({});
    expect(await validity()).toEqual([false]);
    await setPresets({ thumb: 'quality/10' });
    expect(await validity()).toEqual([true]);
    for (const stored of ['spin/90', 'crop/5,5,10,0']) {
      const row = [made.id, stored];
      await api.db.query('update recipes set transform_chain = $2 where recipe_id = $1', row);
      expect(await validity()).toEqual([false]);
      const { body } = await key('GET', `${path}/${made.id}`);
      expect(body).toMatchObject({ transform_chain: stored, valid: false });
    }
  });
});

describe('GET …/recipes/{id}', () => {
  it('returns a recipe of the project, and 404 not_found for any other id', async () => {
    const made = (await put()).body;
    expect((await key('GET', `${path}/${made.id}`)).body).toEqual(made);
    const { project_slug } = await createProject(owner);
    const theirs = `/v1/projects/${project_slug}/recipes/${made.id}`;
    for (const wrong of [
      theirs,
      ...[id('rcp'), 'nonsense', '%00'].map((each) => `${path}/${each}`),
    ]) {
      expect(codeOf(await owner('GET', wrong)), wrong).toBe('404 not_found');
    }
  });
});

describe('PUT …/recipes/{id}', () => {
  it('returns 201 for a new id and 200 from then on', async () => {
    const at = `${path}/${id('rcp')}`;
    const created = await put(hero, at);
    expect([created.status, created.body.id]).toEqual([201, at.split('/').at(-1)]);
    const again = await put(hero, at);
    expect(again.status).toBe(200);
    const replaced = await put({ name: 'renamed', transform_chain: 'quality/50' }, at);
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ name: 'renamed', transform_chain: 'quality/50' });
    expect(replaced.body.created_at).toBe(created.body.created_at);
    expect((await key('GET', path)).body.items).toEqual([replaced.body]);
  });

  it('returns 201 to only one of eight concurrent requests with a new id', async () => {
    const at = `${path}/${id('rcp')}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => put({ ...hero, name: `n${n}` }, at)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
    const actions = (await audited()).map(({ action }) => action);
    expect(actions).toEqual(['recipe.create', ...Array(7).fill('recipe.replace')]);
  });

  it('rejects a taken name, an unknown preset and a malformed id', async () => {
    await put();
    const at = `${path}/${id('rcp')}`;
    expect(codeOf(await put(hero, at))).toBe('409 recipe_name_taken');
    const chain = { name: 'b', transform_chain: 'preset:none' };
    expect(issuesOf(await put(chain, at))).toEqual(['transform_chain']);
    for (const wrong of ['hero', 'rcp_1', id('wm')]) {
      const answer = await put({ ...hero, name: 'b' }, `${path}/${wrong}`);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(answer.text).toContain('rcp_<26 characters>');
    }
  });

  it('returns 404 not_found for an id of another project, whose recipe stays unchanged', async () => {
    const made = (await put()).body;
    const { project_slug } = await createProject(owner);
    const at = `/v1/projects/${project_slug}/recipes/${made.id}`;
    expect(codeOf(await owner('PUT', at, { ...hero, name: 'mine' }))).toBe('404 not_found');
    expect((await key('GET', `${path}/${made.id}`)).body).toEqual(made);
  });

  it('keeps the owning resource when it replaces a declared recipe', async () => {
    const made = (await put()).body;
    const owned = { owner_uid: 'uid-1', owner_namespace: 'shop', owner_name: 'hero' };
    await api.db.query(
      `update recipes set owner_uid = $2, owner_namespace = $3, owner_name = $4 where recipe_id = $1`,
      [made.id, ...Object.values(owned)],
    );
    expect((await put({ ...hero, name: 'mine' }, `${path}/${made.id}`)).status).toBe(200);
    const [row] = await api.db.query(
      'select owner_uid, owner_namespace, owner_name from recipes where recipe_id = $1',
      [made.id],
    );
    expect(row).toEqual(owned);
  });
});

describe('DELETE …/recipes/{id}', () => {
  it('returns 204, even for an unknown id, and deletes no recipe of another project', async () => {
    const made = (await put()).body;
    const { project_slug } = await createProject(owner);
    const unknown = [id('rcp'), 'nonsense', '%00'].map((each) => `${path}/${each}`);
    for (const at of [...unknown, `/v1/projects/${project_slug}/recipes/${made.id}`]) {
      expect((await owner('DELETE', at)).status, at).toBe(204);
    }
    expect((await key('GET', path)).body.items).toEqual([made]);
    for (let n = 0; n < 2; n += 1) {
      const answer = await key('DELETE', `${path}/${made.id}`);
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    expect((await key('GET', path)).body.items).toEqual([]);
    expect((await put()).status).toBe(201);
  });
});

describe('the audit log of recipes', () => {
  it('records each change with the state before and after, but nothing that had no effect', async () => {
    const target = id('rcp');
    const at = `${path}/${target}`;
    await owner('PUT', at, hero);
    await owner('PUT', at, { ...hero, transform_chain: 'quality/50' });
    const { headers } = await owner('DELETE', at);
    await owner('DELETE', at);
    const entries = await audited();
    expect(entries).toMatchObject([
      { action: 'recipe.create', before: null, after: hero, actor_id: subject },
      { action: 'recipe.replace', before: hero, after: { transform_chain: 'quality/50' } },
      { action: 'recipe.delete', before: { transform_chain: 'quality/50' }, after: null, target },
    ]);
    expect(entries[2]?.['request_id']).toBe(headers['x-request-id']);
    expect(entries).toHaveLength(3);
  });
});
