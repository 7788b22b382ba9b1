/** Watermark presets, recipes with given ids, filters, library sessions and altered signatures, on the real product. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { over, photograph } from '../support/pictures.ts';
import { type Caller, call, codeOf, deliver, targetOf, withSession } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { upload } from './support/upload.ts';

const PATH = '/v1/projects/answers';

let tintype: UsedTintype;
let owner: Caller;

beforeAll(async () => {
  tintype = await takeTintype();
  owner = await withSession(tintype, 'ada');
  await owner('POST', '/v1/projects', { project_slug: 'answers' });
  const bytes = await over(photograph(64, 48)).png().toBuffer();
  await upload(owner, 'answers', { bytes, content_type: 'image/png', file_slug: 'logo.png' });
}, 300_000);

afterAll(() => tintype?.stop());

describe('a watermark preset', () => {
  const presets = `${PATH}/watermark-presets`;
  const corner = { name: 'corner', file_slug: 'logo.png', x_offset: -8, y_offset: -8, opacity: 60 };

  it('requires a unique name and an image that is ready', async () => {
    expect(codeOf(await owner('PUT', presets, corner))).toBe('201');
    expect(codeOf(await owner('PUT', presets, corner))).toBe('409 watermark_preset_name_taken');
    const early = { ...corner, name: 'early', file_slug: 'none.png' };
    expect(codeOf(await owner('PUT', presets, early))).toBe('409 watermark_file_not_ready');
    const { items, next_cursor } = (await owner('GET', presets)).body;
    expect([items.length, next_cursor]).toEqual([1, undefined]);
    expect(items[0]).toMatchObject(corner);
  });

  it('is created and replaced by id, rendered, and deletable only if it is not the default', async () => {
    const at = `${presets}/wm_${'0'.repeat(26)}`;
    expect(codeOf(await owner('DELETE', at))).toBe('404 not_found');
    expect(codeOf(await owner('GET', at))).toBe('404 not_found');
    expect(codeOf(await owner('PUT', at, { ...corner, name: 'given' }))).toBe('201');
    const replaced = await owner('PUT', at, { ...corner, name: 'given', opacity: 10 });
    expect([replaced.status, replaced.body.opacity]).toEqual([200, 10]);
    expect((await owner('GET', at)).body).toEqual(replaced.body);
    const path = `/resize/32x24/watermark:${replaced.body.id}/f/logo.png`;
    expect((await deliver(tintype, { project: 'answers', path })).status).toBe(200);
    await owner('PATCH', PATH, { default_watermark_preset_id: replaced.body.id });
    expect(codeOf(await owner('DELETE', at))).toBe('409 default_watermark_in_use');
    await owner('PATCH', PATH, { default_watermark_preset_id: null });
    expect(codeOf(await owner('DELETE', at))).toBe('204');
  });
});

it('a recipe can be created and replaced under an id chosen by the client', async () => {
  const at = `${PATH}/recipes/rcp_${'0'.repeat(26)}`;
  const recipe = { name: 'given', transform_chain: 'resize/10x10' };
  expect(codeOf(await owner('PUT', at, recipe))).toBe('201');
  expect(codeOf(await owner('PUT', at, recipe))).toBe('200');
});

it.each([
  ['?search=ab', '400 filter_requires_library'],
  ['?library=default&search=a', '400 invalid_search'],
  ['?library=default&bbox=1,2,3', '400 invalid_bbox'],
  ['?library=default&folder=..', '400 invalid_folder'],
])('GET files%s returns %s', async (query, code) => {
  expect(codeOf(await owner('GET', `${PATH}/files${query}`))).toBe(code);
});

it('an invalid folder is rejected with 400 invalid_folder', async () => {
  const answer = await owner('PATCH', `${PATH}/files/logo.png`, { folder: '../up' });
  expect(codeOf(answer)).toBe('400 invalid_folder');
});

it('a library session is rejected with 401 library_session_not_allowed', async () => {
  const headers = { authorization: 'Bearer ls1.kid.payload.mac' };
  const answer = await call(tintype, { method: 'GET', path: `${PATH}/files`, headers });
  expect(codeOf(answer)).toBe('401 library_session_not_allowed');
});

describe('a protected original', () => {
  it('is delivered only with its valid signature', async () => {
    await owner('POST', '/v1/projects', { project_slug: 'vault', delivery_access: 'protected' });
    const bytes = await over(photograph(64, 48)).png().toBuffer();
    await upload(owner, 'vault', { bytes, content_type: 'image/png', file_slug: 'a.png' });
    const minted = await owner('POST', '/v1/projects/vault/signed-url', { file_slug: 'a.png' });
    const target = targetOf(minted.body.url);
    const view = async (path: string) => codeOf(await deliver(tintype, { project: 'vault', path }));
    expect(await view(target)).toBe('200');
    const other = /sig=A/.test(target) ? 'sig=B' : 'sig=A';
    expect(await view(target.replace(/sig=./, other))).toBe('403 invalid_signature');
    expect(await view(target.replace(/kid=[^&]+/, 'kid=kid_unknown'))).toBe('403 unknown_kid');
    expect(await view('/originals/f/a.png')).toBe('403 signature_required');
  });
});
