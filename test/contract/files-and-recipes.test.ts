// A tenant lists and changes files, and stores transform chains as recipes, on the real product. Spec: Recipes; Files;
// Usage.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { type Caller, codeOf, deliver, withKey, withSession } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { upload } from './support/upload.ts';

let tintype: UsedTintype;
let slug: string;
/** The path of the project. */
let project: string;
let key: Caller;
let session: Caller;

beforeAll(async () => {
  tintype = await takeTintype();
  slug = tintype.instance.project_slug;
  project = `/v1/projects/${slug}`;
  key = withKey(tintype, tintype.instance.api_key);
  session = await withSession(tintype, 'demo');
  const bytes = await over(photograph(64, 48)).png().toBuffer();
  for (const file_slug of ['cat-1.png', 'cat-2.png', 'dog-1.png']) {
    await upload(key, slug, { bytes, content_type: 'image/png', file_slug });
  }
});

afterAll(() => tintype?.stop());

describe('a recipe', () => {
  it('can be created, listed, replaced and deleted, and its chain works in a delivery URL', async () => {
    const made = await key('PUT', `${project}/recipes`, {
      name: 'tiny',
      transform_chain: 'resize/32x24',
    });
    expect(made.status).toBe(201);
    const at = `${project}/recipes/${made.body.id}`;
    const { items, next_cursor } = (await key('GET', `${project}/recipes`)).body;
    expect(next_cursor).toBeNull();
    expect(items).toContainEqual(made.body);
    const path = `/${made.body.transform_chain}/f/cat-1.png`;
    expect((await deliver(tintype, { project: slug, path })).status).toBe(200);
    const change = { name: 'tiny', transform_chain: 'resize/16x12', schema_version: 1 };
    expect((await session('PUT', at, change)).status).toBe(200);
    expect((await key('GET', at)).body).toMatchObject({ ...change, valid: true });
    expect(codeOf(await key('PUT', `${project}/recipes`, change))).toBe('409 recipe_name_taken');
    for (let n = 0; n < 2; n += 1) expect((await key('DELETE', at)).status).toBe(204);
    expect(codeOf(await key('GET', at))).toBe('404 not_found');
  });
});

describe('files', { shuffle: false }, () => {
  const slugs = async (query: string) => {
    const { body } = await key('GET', `${project}/files${query}`);
    return body.items.map(({ file_slug }: { file_slug: string }) => file_slug);
  };

  it('are listed newest first, filtered by prefix and library, and paginated', async () => {
    expect(await slugs('')).toEqual(['dog-1.png', 'cat-2.png', 'cat-1.png']);
    expect(await slugs('?q=cat-&library=default')).toEqual(['cat-2.png', 'cat-1.png']);
    const { next_cursor } = (await key('GET', `${project}/files?q=cat-&limit=1`)).body;
    expect(await slugs(`?q=cat-&limit=1&cursor=${next_cursor}`)).toEqual(['cat-1.png']);
    for (const query of [`?cursor=${next_cursor}`, `?q=cat-&cursor=${next_cursor}x`]) {
      const answer = await key('GET', `${project}/files${query}`);
      expect(codeOf(answer), query).toBe('400 invalid_cursor');
    }
    const without = await key('GET', `${project}/files?folder=pets`);
    expect(codeOf(without)).toBe('400 folder_requires_library');
    const named = await key('GET', `${project}/files?library=press`);
    expect(codeOf(named)).toBe('404 library_not_found');
  });

  it('store sanitized titles, texts and folders, and accept moderation notes only from sessions', async () => {
    const at = `${project}/files/cat-1.png`;
    const written = { title: ' \u202eA cat\n', alt_text: 'x'.repeat(1001), folder: '/pets//cats/' };
    const { status, body } = await key('PATCH', at, written);
    expect(status).toBe(200);
    expect(body).toMatchObject({ title: 'A cat', folder: 'pets/cats', library: 'default' });
    expect(body.alt_text).toHaveLength(1000);
    expect((await key('PATCH', at, { title: '' })).body.title).toBeNull();
    const note = await session('POST', `${at}/moderation-notes`, { body: 'a cat, really' });
    expect(note.status).toBe(201);
    expect(note.body).toMatchObject({ file_slug: 'cat-1.png', note: 'a cat, really' });
    const byKey = await key('POST', `${at}/moderation-notes`, { note: 'x' });
    expect(codeOf(byKey)).toBe('403 browser_session_required');
  });

  it('can be deleted repeatedly, and then return 404 file_not_found', async () => {
    const at = `${project}/files/dog-1.png`;
    for (let n = 0; n < 2; n += 1) expect((await key('DELETE', at)).status).toBe(204);
    expect(codeOf(await key('GET', at))).toBe('404 file_not_found');
    expect(codeOf(await key('PATCH', at, { title: 'x' }))).toBe('404 file_not_found');
    expect(await slugs('?status=deleted')).toEqual(['dog-1.png']);
    expect((await key('GET', `${project}/usage`)).body.storage.file_count).toBe(2);
  });
});
