// Spec: Library sessions and the picker. End-to-end in Chromium over two origins: the host page, sessions, choosing and
// uploading, the keyboard, screen readers and other languages.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withKey } from '../../contract/support/client.ts';
import { projectRoot } from '../../house/source-files.ts';
import { type Examples, offerExample, writeExamples } from '../../support/examples.ts';
import {
  addPicture,
  type PickerSite,
  picture,
  type Shown,
  startPickerSite,
  visit,
  visitAgain,
} from '../../support/picker-site.ts';
import { meanDifference, pixelsOf } from '../../support/picture-difference.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Most tests run on a smaller screen, of which Chromium draws less. */
const DESKTOP = { width: 1280, height: 800 };
const NOWHERE = { x: -1, y: -1, width: 0, height: 0 };
const SLOW = { timeout: 90_000 };

let site: PickerSite;
let shown: Shown;
/** The page that tests use one after another, unless they change its whole browser context. */
let shared: Shown | undefined;

beforeAll(async () => {
  site = await startPickerSite();
  await Promise.all([
    addPicture(site, 'harbour.jpg', { folder: 'summer/coast', seed: 1 }),
    addPicture(site, 'forest.jpg', { seed: 2 }),
    addPicture(site, 'mountain.jpg', { folder: 'winter', seed: 3 }),
  ]);
}, 300_000);
afterAll(() => site?.close());
beforeEach(async ({ onTestFailed }) => {
  for (const key of Object.keys(site.mint)) delete site.mint[key];
  if (shared === undefined) shared = await visit(site);
  else await visitAgain(site, shared);
  shown = shared;
  site.refreshed.length = 0;
  onTestFailed(async () => {
    await shared?.page.context().close();
    shared = undefined;
  });
});
afterEach(async () => {
  expect(shown.complaints).toEqual([]);
  if (shown !== shared) await shown.page.context().close();
});

const pick = async (settings: object = {}) => {
  await shown.page.evaluate(`pick(${JSON.stringify(settings)})`);
  await shown.frame.locator('footer').waitFor();
};
/** Polls, since a busy machine may be slow. */
const eventually = (find: () => unknown) => expect.poll(find);
const chosen = () => shown.page.evaluate('chosen');
const pageEvents = () => shown.page.evaluate('received') as Promise<unknown[][]>;
const tile = (name: string) => shown.frame.getByRole('option', { name });
const button = (name: string) => shown.frame.getByRole('button', { name, exact: true });
const status = () => shown.frame.getByRole('status');
/** The status text in an upload's row. */
const word = (words: string) => shown.frame.locator('.word').getByText(words);
const press = (key: string) => shown.page.keyboard.press(key);
/** Does not wait: Chromium may never respond if the key closes the picker's frame. */
const pressToEnd = (key: string) => void press(key).catch(() => undefined);
/** Runs a script inside the picker's frame. */
const inFrame = (program: string): Promise<unknown> => {
  const frame = shown.page.frames().find((each) => each.url().includes('/embed/'));
  if (frame === undefined) throw new Error('the picker is not there');
  return frame.evaluate(`(() => { ${program} })()`);
};
const takeFiles = async (files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  shown.frame.locator('input[type=file]').setInputFiles(files);
const uploadOf = async (id: string) => {
  const { api_key, project_slug } = site.tintype.instance;
  const path = `/v1/projects/${project_slug}/uploads/${id}`;
  return (await withKey(site.tintype, api_key)('GET', path)).body;
};
const jpeg = async (name: string, seed: number) => ({
  name,
  mimeType: 'image/jpeg',
  buffer: await picture(seed),
});

describe('the picker', { shuffle: false }, () => {
  describe('choosing', SLOW, () => {
    it('returns the chosen file to the page, and removes its frame', async () => {
      await pick();
      await tile('forest.jpg').click();
      await button('Insert').click();
      expect(await chosen()).toEqual(['forest.jpg']);
      expect(await shown.page.locator('iframe').count()).toBe(0);
    });

    it('has the keyboard focus from the beginning, so that pasting works', async () => {
      await pick();
      await eventually(() => inFrame('return document.hasFocus()')).toBe(true);
    });

    it('shows thumbnails, names and folders', async () => {
      await pick();
      await shown.frame.locator('img.loaded').nth(2).waitFor();
      const spans = await tile('harbour.jpg').locator('.name, .folder, .unseen').allTextContents();
      expect(spans).toEqual(['harbour.jpg', 'summer/coast', '96 × 72']);
      expect(await status().textContent()).toBe('3 images');
    });

    it('selects many images by keyboard, in the order in which they were chosen', async () => {
      await pick({ select: 'many' });
      await tile('forest.jpg').waitFor();
      const order = await shown.frame.getByRole('option').locator('.name').allTextContents();
      await shown.frame.getByRole('listbox').focus();
      for (const key of ['End', ' ', 'Home', ' ', 'ArrowRight', ' ', ' ']) await press(key);
      expect(await status().textContent()).toBe('2 selected');
      pressToEnd('Enter');
      expect(await chosen()).toEqual([order[2], order[0]]);
    });

    it('searches as the user types, but not for a single character', async () => {
      await pick();
      await tile('forest.jpg').waitFor();
      const search = shown.frame.getByRole('searchbox');
      await search.fill('mount');
      await eventually(() => shown.frame.getByRole('option').count()).toBe(1);
      expect(await tile('mountain.jpg').count()).toBe(1);
      // One character, although two UTF-16 code units: too short for a search.
      await search.fill('😀');
      await eventually(() => shown.frame.getByRole('option').count()).toBe(3);
      await search.fill('nothing of this name');
      await eventually(() => status().textContent()).toBe(
        'No image matches “nothing of this name”.',
      );
      await press('Escape');
      await eventually(() => shown.frame.getByRole('option').count()).toBe(3);
    });

    it('says once that nothing matches, beside the number of selected images if there are any', async () => {
      await pick({ select: 'many' });
      await tile('forest.jpg').click();
      const none = 'No image matches “nothing of this name”.';
      await shown.frame.getByRole('searchbox').fill('nothing of this name');
      await eventually(() => shown.frame.locator('.empty').textContent()).toBe(none);
      expect(await status().textContent()).toBe('1 selected');
      const isSeen = async () => ((await status().boundingBox())?.width ?? 0) > 1;
      expect(await isSeen()).toBe(true);
      await press('Escape');
      await tile('forest.jpg').click();
      await shown.frame.getByRole('searchbox').fill('nothing of this name');
      await eventually(() => status().textContent()).toBe(none);
      expect(await isSeen()).toBe(false);
    });

    it('ignores clicks between two images', async () => {
      await pick();
      await tile('forest.jpg').click();
      const first = await shown.frame.getByRole('option').first().boundingBox();
      const { x, y, width } = first ?? NOWHERE;
      await shown.page.mouse.dblclick(x + width + 6, y + 20);
      await tile('mountain.jpg').click();
      await button('Insert').click();
      expect(await chosen()).toEqual(['mountain.jpg']);
    });

    it('returns null if the user closes it', async () => {
      await pick();
      await button('Close').click();
      expect(await chosen()).toBeNull();
    });

    it('works as an element of the page', async () => {
      await shown.page.evaluate('inline({ select: "many" })');
      await tile('forest.jpg').dblclick();
      await eventually(async () => (await pageEvents()).at(-1)?.[0]).toBe('select');
      const [, files] = (await pageEvents()).at(-1) ?? [];
      expect(files).toMatchObject([{ file_slug: 'forest.jpg', url: expect.any(String) }]);
      expect(files).not.toHaveProperty('0.thumb_hash');
    });
  });

  describe('the examples of docs/picker.md', SLOW, () => {
    const DOCUMENT = 'docs/picker.md';
    let examples: Examples;

    beforeAll(async () => {
      const { api_url, api_key, project_slug } = site.tintype.instance;
      examples = await writeExamples(DOCUMENT, {
        "'demo'": `'${project_slug}'`,
        'https://images.example': api_url,
        'tin_live_…': api_key,
        'http://localhost:3000': site.shop.origin,
      });
      const { mint } = await examples.load('session.ts');
      site.shop.answers.set('/picker-session', async (request, response) => {
        const body = await text(request);
        const minted = await mint?.(new Request(site.shop.origin, { method: 'POST', body }), 'ada');
        response.writeHead(minted.status).end(await minted.text());
      });
      for (const name of ['pick.ts', 'element.ts']) offerExample(site.shop, DOCUMENT, name);
    });
    afterAll(() => examples?.close());

    it('open the picker from a button with a session of the server, and return what was chosen', async () => {
      await shown.page.evaluate(`(async () => {
      const { pick } = await import('/examples/pick.ts');
      window.picked = pick();
    })()`);
      await tile('forest.jpg').click();
      await button('Insert').click();
      expect(await shown.page.evaluate('picked')).toEqual([
        expect.stringMatching(/^http:.*\/originals\/f\/forest\.jpg$/),
      ]);
    });

    it('place the picker as an element of the page, which reports what was chosen', async () => {
      const said = shown.page.waitForEvent('console');
      await shown.page.evaluate(`(async () => {
      const { place } = await import('/examples/element.ts');
      const body = JSON.stringify({ refreshOf: null });
      const session = async () => (await fetch('/picker-session', { method: 'POST', body })).json();
      place({ session });
    })()`);
      await tile('forest.jpg').dblclick();
      const [detail] = (await said).args();
      expect(await detail?.jsonValue()).toMatchObject([{ file_slug: 'forest.jpg' }]);
    });
  });

  describe('uploading', SLOW, () => {
    it('uploads several files, selects them and tells the page', async () => {
      await pick({ select: 'many' });
      await takeFiles([await jpeg('one.jpg', 11), await jpeg('two.jpg', 12)]);
      await eventually(() => status().textContent()).toBe('2 selected');
      await button('Insert 2').click();
      expect(await chosen()).toHaveLength(2);
      expect(await pageEvents()).toEqual(
        expect.arrayContaining([
          ['upload', 'one.jpg', 'sending', null],
          ['upload', 'two.jpg', 'ready', null],
        ]),
      );
    });

    it('keeps the selection when a finished upload is removed from the list', async () => {
      await pick();
      await takeFiles([await jpeg('done.jpg', 15)]);
      await eventually(() => status().textContent()).toBe('1 selected');
      await tile('forest.jpg').click();
      const before = await pageEvents();
      await button('Remove done.jpg from this list').click();
      await button('Insert').click();
      expect(await chosen()).toEqual(['forest.jpg']);
      expect(await pageEvents()).toEqual(before);
    });

    it('leaves the keyboard on its image when others arrive before it', async () => {
      await pick({ select: 'many' });
      await tile('forest.jpg').waitFor();
      await shown.frame.getByRole('listbox').focus();
      const active = shown.frame.locator('[data-active] .name');
      for (const key of ['Home', 'ArrowRight']) await press(key);
      const name = await shown.frame.getByRole('option').locator('.name').nth(1).textContent();
      await eventually(() => active.textContent()).toBe(name);
      await takeFiles([await jpeg('before.jpg', 19), await jpeg('further.jpg', 20)]);
      await eventually(() => status().textContent()).toBe('2 selected');
      await eventually(() => active.textContent()).toBe(name);
      await press(' ');
      expect(await status().textContent()).toBe('3 selected');
      const isChosen = () => shown.frame.locator('[data-active]').getAttribute('aria-selected');
      await eventually(isChosen).toBe('true');
      expect(await active.textContent()).toBe(name);
    });

    it('starts on the newest image if it arrived before the list had the keyboard', async () => {
      await pick();
      await tile('forest.jpg').waitFor();
      await takeFiles([await jpeg('newest.jpg', 21)]);
      await eventually(() => status().textContent()).toBe('1 selected');
      await shown.frame.getByRole('listbox').focus();
      await eventually(() => shown.frame.locator('[data-active] .name').textContent()).toBe(
        'newest.jpg',
      );
    });

    it('tells the page only once that the images cannot be listed, even if an upload arrives later', async () => {
      const error = { code: 'storage_unavailable', message: 'Storage is not reachable.' };
      await shown.page.route('**/v1/library/files**', (route) =>
        route.fulfill({ status: 503, json: { error } }),
      );
      await pick();
      await takeFiles([await jpeg('late.jpg', 16)]);
      await tile('late.jpg').waitFor();
      const errors = (await pageEvents()).filter(([kind]) => kind === 'error');
      expect(errors).toEqual([['error', 'storage_unavailable']]);
    });

    it('uploads dropped and pasted files', async () => {
      await pick({ select: 'many' });
      const bytes = [...(await picture(13))];
      await inFrame(`
      const give = (name) => {
        const files = new DataTransfer();
        files.items.add(new File([new Uint8Array([${bytes}])], name, { type: 'image/jpeg' }));
        return files;
      };
      const dataTransfer = give('dropped.jpg');
      document.body.dispatchEvent(new DragEvent('dragenter', { dataTransfer, bubbles: true }));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      const clipboardData = give('pasted.jpg');
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    `);
      await tile('dropped.jpg').waitFor();
      await tile('pasted.jpg').waitFor();
    });

    it('explains why a file was rejected, and offers no retry', async () => {
      await pick();
      const buffer = Buffer.from('no picture');
      await takeFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer }]);
      await word('This type of file is not accepted.').waitFor();
      await takeFiles([{ name: 'torn.jpg', mimeType: 'image/jpeg', buffer }]);
      await word('The image is not of the type').waitFor();
      expect(await shown.frame.getByRole('button', { name: /^Try .* again$/ }).count()).toBe(0);
      await button('Remove notes.txt from this list').press('Enter');
      expect(await shown.frame.getByText('notes.txt').count()).toBe(0);
      const focused = () => inFrame(`return document.activeElement.getAttribute('aria-label')`);
      await eventually(focused).toMatch(/torn\.jpg/);
      await shown.page.keyboard.press('Enter');
      await eventually(() => inFrame('return document.activeElement.className')).toBe('upload');
    });

    it('states the size limit if a file is too large for the session', async () => {
      const file = { name: 'large.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(1_250_001) };
      site.mint['max_file_bytes'] = 1_250_000;
      await pick({ language: 'de' });
      await takeFiles([file]);
      await word('Die Datei ist zu groß: höchstens 1,2 MB.').waitFor();
      await button('Schließen').click();
      site.mint['max_file_bytes'] = 50_000;
      await pick();
      await takeFiles([file]);
      await word('The file is too large: 50 kB at most.').waitFor();
    });

    it('announces what became of each upload to screen readers, and lets it be removed from the list', async () => {
      await pick();
      // Observes only regions that exist already: readers do not announce one added with its text.
      await inFrame(`
      window.heard = [];
      for (const region of document.querySelectorAll('[role=status], [role=log]')) {
        const note = () => heard.push(...region.innerText.split('\\n'));
        new MutationObserver(note).observe(region, { childList: true, subtree: true });
      }
    `);
      const heard = () => inFrame('return window.heard');
      const torn = { name: 'torn.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no picture') };
      await takeFiles([torn, await jpeg('whole.jpg', 22)]);
      await eventually(heard).toContain(
        'torn.jpg: The image is not of the type that the file claims to be.',
      );
      await eventually(heard).toContain('whole.jpg: Done');
      await button('Remove torn.jpg from this list').click();
      await eventually(() => shown.frame.getByText('torn.jpg').count()).toBe(0);
    });

    it('cancels an upload on the server as well, and can start it again', async () => {
      await pick();
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      let path = '';
      await shown.page.route('**/v1/uploads/**', async (route) => {
        path = new URL(route.request().url()).pathname;
        await held;
        await route.continue().catch(() => undefined);
      });
      await takeFiles([await jpeg('slow.jpg', 14)]);
      await eventually(() => path).not.toBe('');
      const begun = path.split('/').at(-1) ?? '';
      await button('Cancel slow.jpg').click();
      await shown.frame.getByText('Canceled').waitFor();
      await eventually(() => uploadOf(begun)).toMatchObject({ status: 'expired' });
      release();
      await button('Try slow.jpg again').click();
      await tile('slow.jpg').waitFor();
    });

    it('finishes an upload that is canceled when its bytes have already arrived', async () => {
      await pick();
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await shown.page.route('**/v1/uploads/**', async (route) => {
        const response = await route.fetch();
        arrive();
        await held;
        await route.fulfill({ response }).catch(() => undefined);
      });
      await takeFiles([await jpeg('kept.jpg', 15)]);
      await arrived;
      await button('Cancel kept.jpg').click();
      await tile('kept.jpg').waitFor();
      await shown.frame.getByText('Done', { exact: true }).waitFor();
      release();
    });

    it('aborts an upload on the server if it could not be sent, and can start it again', async () => {
      await pick();
      const asked = shown.page.waitForRequest('**/v1/uploads/**');
      await shown.page.route('**/v1/uploads/**', (route) => route.abort());
      await takeFiles([await jpeg('unsent.jpg', 17)]);
      const begun = new URL((await asked).url()).pathname.split('/').at(-1) ?? '';
      await button('Try unsent.jpg again').waitFor();
      await eventually(() => uploadOf(begun)).toMatchObject({ status: 'expired' });
      await shown.page.unroute('**/v1/uploads/**');
      await button('Try unsent.jpg again').click();
      await tile('unsent.jpg').waitFor();
    });

    it('shows an image whose bytes arrived although the response was lost', async () => {
      await pick();
      await shown.page.route('**/v1/uploads/**', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await takeFiles([await jpeg('unheard.jpg', 18)]);
      await tile('unheard.jpg').waitFor();
      await shown.frame.getByText('Done', { exact: true }).waitFor();
    });

    describe('while the service answers with errors', () => {
      const failure = (code: string, wait?: number) => ({
        status: code === 'rate_limited' ? 429 : 503,
        headers: wait === undefined ? {} : { 'retry-after': String(wait) },
        json: { error: { code, message: 'Try again shortly.' } },
      });
      /** The distinct upload statuses that the page received for a file. */
      const toldOf = async (name: string) =>
        new Set(
          (await pageEvents()).filter(([, each]) => each === name).map(([, , status]) => status),
        );
      /** Records the uploads that were created, with their idempotency keys. */
      const noteBegun = async () => {
        const begun: { key: string | undefined; upload_id: string }[] = [];
        await shown.page.route('**/v1/library/uploads', async (route) => {
          const response = await route.fetch();
          const { upload_id } = await response.json();
          begun.push({ key: route.request().headers()['idempotency-key'], upload_id });
          await route.fulfill({ response });
        });
        return begun;
      };

      it('waits for the outcome of the upload without starting another', async () => {
        await pick();
        const begun = await noteBegun();
        const refuse = (code: string, wait?: number) => (route: Route) =>
          route.fulfill(failure(code, wait));
        const complete = '**/v1/library/uploads/*/complete';
        await shown.page.route(complete, async (route) => {
          const body = await (await route.fetch()).json();
          await route.fulfill({ json: { ...body, status: 'processing', file: null } });
        });
        await shown.page.route(complete, refuse('query_timeout'), { times: 1 });
        const poll = '**/v1/library/uploads/*';
        await shown.page.route(poll, refuse('rate_limited', 1), { times: 1 });
        await shown.page.route(poll, refuse('storage_unavailable'), { times: 1 });
        await takeFiles([await jpeg('awaited.jpg', 24)]);
        await tile('awaited.jpg').waitFor();
        expect(begun).toHaveLength(1);
        expect(await toldOf('awaited.jpg')).toEqual(new Set(['sending', 'processing', 'ready']));
      });

      it('gives up if asked to wait too long, and a retry sends nothing twice', async () => {
        await pick();
        const begun = await noteBegun();
        const calls: string[] = [];
        await shown.page.route('**/v1/library/uploads/**', (route) => {
          calls.push(new URL(route.request().url()).pathname.split('/').at(-1) ?? '');
          return route.fulfill(failure('storage_unavailable', 60));
        });
        await takeFiles([await jpeg('unknown.jpg', 25)]);
        await word('The service has a problem at the moment.').waitFor();
        await eventually(() => calls).toEqual(['complete', 'abort']);
        await button('Try unknown.jpg again').click();
        await eventually(() => calls.length).toBe(4);
        await word('The service has a problem at the moment.').waitFor();
        await shown.page.unroute('**/v1/library/uploads/**');
        await button('Try unknown.jpg again').click();
        await tile('unknown.jpg').waitFor();
        expect(begun).toHaveLength(1);
      });

      it('starts only one upload if the response to its start is lost', async () => {
        await pick();
        const begun = await noteBegun();
        const lost: unknown[] = [];
        await shown.page.route(
          '**/v1/library/uploads',
          async (route) => {
            const { upload_id } = await (await route.fetch()).json();
            lost.push({ key: route.request().headers()['idempotency-key'], upload_id });
            await route.abort();
          },
          { times: 1 },
        );
        await takeFiles([await jpeg('begun.jpg', 26)]);
        await tile('begun.jpg').waitFor();
        expect(lost).toEqual(begun);
        await takeFiles([await jpeg('begun.jpg', 27)]);
        await eventually(() => begun.length).toBe(2);
        expect(begun[1]?.key).not.toBe(begun[0]?.key);
        await eventually(() => tile('begun.jpg').count()).toBe(2);
      });
    });

    it('says so if an image was deleted before it could be shown', async () => {
      await pick();
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await shown.page.route('**/v1/library/uploads/*/complete', async (route) => {
        await held;
        await route.continue();
      });
      const asked = shown.page.waitForRequest('**/v1/library/uploads/*/complete');
      await takeFiles([await jpeg('gone.jpg', 16)]);
      const id = (await asked).url().split('/').at(-2) ?? '';
      await eventually(() => uploadOf(id)).toMatchObject({ status: 'ready' });
      const { api_key, project_slug } = site.tintype.instance;
      const { file_slug } = await uploadOf(id);
      const path = `/v1/projects/${project_slug}/files/${file_slug}`;
      await withKey(site.tintype, api_key)('DELETE', path);
      release();
      await word('The image no longer exists.').waitFor();
    });

    it('offers only what the session permits', async () => {
      site.mint['permissions'] = ['browse'];
      await pick();
      await tile('forest.jpg').waitFor();
      expect(await button('Upload').count()).toBe(0);
      // The browser must not open a dropped file in place of the page.
      const drop = `new DragEvent('drop', { cancelable: true, dataTransfer: new DataTransfer() })`;
      const dropFile = `const drop = ${drop}; drop.dataTransfer.items.add(new File([], 'a.png'));`;
      expect(await inFrame(`${dropFile} return document.dispatchEvent(drop)`)).toBe(false);
      await button('Close').click();
      expect(await chosen()).toBeNull();
      site.mint['permissions'] = ['upload'];
      await pick();
      expect(await shown.frame.getByRole('searchbox').count()).toBe(0);
      expect(await status().textContent()).toBe('Drop images here, paste them, or choose some.');
    });
  });

  describe('the session', SLOW, () => {
    it('is renewed when it has ended, without the person noticing', async () => {
      let calls = 0;
      await shown.page.route('**/v1/library/files**', (route) => {
        calls += 1;
        const error = { code: 'session_expired', message: 'The session has ended.' };
        return calls === 1 ? route.fulfill({ status: 401, json: { error } }) : route.continue();
      });
      await pick();
      await tile('forest.jpg').waitFor();
      expect(site.refreshed).toEqual([null, expect.stringMatching(/^ls1\./)]);
    });

    describe('when a further page of images cannot be loaded', () => {
      const onePageEach = (route: Route) => {
        const url = new URL(route.request().url());
        url.searchParams.set('limit', '1');
        return route.continue({ url: url.href });
      };
      const isFurther = (url: URL) =>
        url.pathname === '/v1/library/files' && url.searchParams.has('cursor');

      it('lists from the beginning if the renewed session sees fewer images', async () => {
        await shown.page.route('**/v1/library/files**', onePageEach);
        const error = { code: 'session_expired', message: 'The session has ended.' };
        const narrow = (route: Route) => {
          site.mint['folder'] = 'summer';
          return route.fulfill({ status: 401, json: { error } });
        };
        await shown.page.route(isFurther, narrow, { times: 1 });
        await pick();
        await eventually(() => status().textContent()).toBe('1 image');
        await tile('harbour.jpg').waitFor();
        expect((await pageEvents()).filter(([kind]) => kind === 'error')).toEqual([]);
      });

      it('lists from the beginning on every retry after invalid_cursor', async () => {
        await shown.page.route('**/v1/library/files**', onePageEach);
        let refused = 0;
        const error = { code: 'invalid_cursor', message: 'The cursor is not valid.' };
        await shown.page.route(isFurther, (route) => {
          refused += 1;
          return route.fulfill({ status: 400, json: { error } });
        });
        await pick();
        await button('Try again').waitFor();
        expect(refused).toBe(2);
        await shown.page.unroute(isFurther);
        const first = shown.page.waitForRequest('**/v1/library/files**');
        await button('Try again').click();
        expect(new URL((await first).url()).searchParams.has('cursor')).toBe(false);
        await tile('harbour.jpg').waitFor();
      });
    });

    it('is renewed together with thumbnails whose signatures have expired', async () => {
      let lists = 0;
      await shown.page.route('**/v1/library/files**', async (route) => {
        lists += 1;
        const body = await (await route.fetch()).json();
        for (const item of body.items) item.thumbnail_url += `?list=${lists}`;
        await route.fulfill({ json: body });
      });
      await shown.page.route('**/v1/library/uploads/**', async (route) => {
        const body = await (await route.fetch()).json();
        if (body.file !== null) body.file.thumbnail_url += '?list=1';
        await route.fulfill({ json: body });
      });
      const { promise: renewed, resolve: renew } = Promise.withResolvers<void>();
      await shown.page.route('**/resize/**', async (route) => {
        const [url, list] = route.request().url().split('?list=');
        if (list !== '1') return route.continue({ url: url ?? '' });
        await renewed;
        await route.fulfill({ status: 403, body: '' });
      });
      await pick({ select: 'many' });
      await takeFiles([await jpeg('early.jpg', 23)]);
      await eventually(() => status().textContent()).toBe('1 selected');
      // Another lifetime: a token minted within the same second would otherwise be identical.
      site.mint['expires_in'] = 1000;
      const error = { code: 'session_expired', message: 'The session has ended.' };
      const refusal = { status: 401, json: { error } };
      const refuse = (route: Route) => route.fulfill(refusal);
      await shown.page.route('**/v1/library/uploads', refuse, { times: 1 });
      await takeFiles([await jpeg('renews.jpg', 17)]);
      await eventually(() => status().textContent()).toBe('2 selected');
      renew();
      for (const at of [0, 1, 2, 3]) {
        await shown.frame.getByRole('option').nth(at).locator('img.loaded').waitFor();
      }
      // The first list, one refresh, and one more for uploads that the refresh did not include.
      expect(lists).toBeLessThanOrEqual(3);
    });

    it('that expires while an image is processed is renewed, and the image becomes ready', async () => {
      shown = await visit(site);
      await shown.page.clock.install();
      await pick();
      await tile('forest.jpg').waitFor();
      site.mint['expires_in'] = 1100;
      const error = { code: 'session_expired', message: 'The session has ended.' };
      let ended: string | undefined;
      await shown.page.route('**/v1/library/uploads/**', async (route) => {
        const { authorization } = route.request().headers();
        if (ended === undefined) await route.fetch();
        ended ??= authorization;
        if (authorization !== ended) return route.continue();
        await route.fulfill({ status: 401, json: { error } });
      });
      const refuseSession = (route: Route) => route.fulfill({ status: 503, body: '' });
      await shown.page.route('**/session', refuseSession, { times: 1 });
      const begun = shown.page.waitForRequest('**/v1/library/uploads/*/complete');
      await takeFiles([await jpeg('patient.jpg', 29)]);
      const id = (await begun).url().split('/').at(-2) ?? '';
      await eventually(() => uploadOf(id)).toMatchObject({ status: 'ready' });
      await shown.page.clock.fastForward(16_000);
      const ends = async () => {
        const told = (await pageEvents()).filter(([kind]) => kind === 'upload').slice(-3);
        return told.map(([, , state, code]) => [state, code]);
      };
      await eventually(ends).toEqual([
        ['failed', 'session_expired'],
        ['processing', null],
        ['ready', null],
      ]);
      await tile('patient.jpg').waitFor();
    });

    it('is not renewed early on a machine whose clock is a day ahead', async () => {
      shown = await visit(site);
      await shown.page.clock.setFixedTime(Date.now() + 86_400_000);
      await pick();
      await tile('forest.jpg').waitFor();
      expect(site.refreshed).toEqual([null]);
    });

    it('that is missing is reported to the page, and the user can close the dialog', async () => {
      await shown.page.route('**/session', (route) => route.fulfill({ json: { error: {} } }));
      await shown.page.evaluate('pick()');
      await eventually(pageEvents).toEqual([['error', 'session_failed']]);
      await shown.page.getByText('The images could not be opened.').waitFor();
      await shown.page.getByRole('button', { name: 'Close' }).click();
      expect(await chosen()).toBeNull();
      expect(await shown.page.locator('dialog').count()).toBe(0);
    });

    it('that is an error response is reported as no session', async () => {
      await shown.page.route('**/session', (route) =>
        route.fulfill({ json: { error: { code: 'origin_not_allowed', message: '' } } }),
      );
      await shown.page.evaluate('pick({ onError: ({ message }) => received.push(message) })');
      const says =
        'session() returned no session: return the response of the service, with its token and embed_url.';
      await eventually(pageEvents).toEqual([says]);
    });

    it('with an invalid token is reported as invalid, not as an empty library', async () => {
      await shown.page.route('**/session', async (route) => {
        const session = await (await route.fetch()).json();
        await route.fulfill({ json: { ...session, token: 'ls1.none' } });
      });
      await pick();
      await eventually(() => status().textContent()).toBe(
        'Your session is not valid. Open the picker again.',
      );
    });

    it('that does not arrive can be abandoned by closing the dialog', async () => {
      await shown.page.route('**/session', () => undefined);
      await shown.page.evaluate('pick()');
      await shown.page.getByText('Opening the images').waitFor();
      await shown.page.getByRole('button', { name: 'Close' }).click();
      expect(await chosen()).toBeNull();
    });

    it('is reported to the page as failed if the server gives no new one', async () => {
      await pick();
      await tile('forest.jpg').waitFor();
      const error = { code: 'session_revoked', message: 'The session was revoked.' };
      await shown.page.route('**/v1/library/files**', (route) =>
        route.fulfill({ status: 401, json: { error } }),
      );
      await shown.page.route('**/session', (route) => route.fulfill({ status: 403, body: '' }));
      await shown.frame.getByRole('searchbox').fill('anything');
      await eventually(async () => (await pageEvents()).at(-1)).toEqual([
        'error',
        'session_failed',
      ]);
    });

    describe('once it has ended for good', () => {
      const OF_LIBRARY =
        /forest|harbour|mountain|summer|winter|mine\.jpg|resize\/|selected="true"/g;
      const ofLibrary = async () =>
        String(await inFrame('return document.documentElement.outerHTML')).match(OF_LIBRARY);
      const refuseRenewal = () =>
        shown.page.route('**/session', (route) => route.fulfill({ status: 403, body: '' }));

      it('leaves nothing of the library in the document, until there is another', async () => {
        shown = await visit(site);
        await shown.page.clock.install();
        await pick({ select: 'many' });
        await takeFiles([await jpeg('mine.jpg', 31)]);
        await word('Done').waitFor();
        await tile('forest.jpg').click();
        expect(await ofLibrary()).not.toBeNull();
        const error = { code: 'session_revoked', message: 'The session was revoked.' };
        await shown.page.route('**/v1/library/**', (route) =>
          route.fulfill({ status: 401, json: { error } }),
        );
        await refuseRenewal();
        await takeFiles([await jpeg('another.jpg', 32)]);
        const last = async () => (await pageEvents()).at(-1);
        await eventually(last).toEqual(['error', 'session_failed']);
        await shown.page.clock.fastForward(16_000);
        const says = 'Your session was ended. Open the picker again.';
        await eventually(() => status().textContent()).toBe(says);
        expect(await ofLibrary()).toBeNull();
        expect(await button('Insert').isDisabled()).toBe(true);
        expect(await pageEvents()).toContainEqual(['error', 'session_revoked']);
        await shown.page.unrouteAll();
        await button('Try again').click();
        await tile('forest.jpg').waitFor();
        await tile('harbour.jpg').waitFor();
      });

      it('does so too if nobody uses the picker, but not before its time is over', async () => {
        shown = await visit(site);
        await shown.page.clock.install();
        site.mint['expires_in'] = 600;
        await pick();
        await tile('forest.jpg').waitFor();
        await refuseRenewal();
        await shown.page.clock.fastForward(560_000);
        await eventually(pageEvents).toEqual([['error', 'session_failed']]);
        expect(await tile('forest.jpg').count()).toBe(1);
        await shown.page.clock.fastForward(60_000);
        await eventually(pageEvents).toHaveLength(2);
        expect(await tile('forest.jpg').count()).toBe(1);
        await shown.page.clock.fastForward(16_000);
        const says = 'Your session has ended. Open the picker again.';
        await eventually(() => status().textContent()).toBe(says);
        expect(await ofLibrary()).toBeNull();
      });
    });

    it('never puts its token into a URL or into storage', async () => {
      const addresses: string[] = [];
      shown.page.on('request', (request) => addresses.push(request.url()));
      await pick();
      await tile('forest.jpg').waitFor();
      expect(addresses.filter((url) => url.includes('ls1.'))).toEqual([]);
      expect(await shown.page.context().storageState()).toEqual({ cookies: [], origins: [] });
    });
  });

  describe('accessibility, layout and languages', SLOW, () => {
    it.each(['light', 'dark'])('has no violations found by axe in the %s theme', async (theme) => {
      await shown.page.setViewportSize(DESKTOP);
      await pick({ select: 'many', theme });
      await tile('forest.jpg').click();
      await takeFiles([{ name: 'torn.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no') }]);
      await word('The image is not of the type').waitFor();
      const found = await inFrame(`${AXE}; return axe.run(document)`);
      const { violations } = found as { violations: { id: string; nodes: { html: string }[] }[] };
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    });

    const screens = [
      ['phone', 390, 844, 'light'],
      ['tablet', 820, 1180, 'light'],
      ['desktop', 1280, 800, 'dark'],
    ] as const;
    const pictures = join(projectRoot, 'docs/picker');
    const pictureOf = (name: string) => join(pictures, `${name}.jpg`);
    /** Mean difference per color value (0 to 255); one missing image of the three exceeds it. */
    const DIFFERENCE_MAX = 1;

    it('has a screenshot for each screen size in docs/picker', () => {
      expect(readdirSync(pictures).sort()).toEqual(screens.map(([name]) => `${name}.jpg`).sort());
    });

    it.each(screens)(
      'fits on the screen of a %s, and looks as in its screenshot',
      async (name, width, height, theme) => {
        shown = await visit(site, { width, height, reducedMotion: 'no-preference' });
        // Hides the uploads of other tests, and fixes the order.
        const order = ['harbour.jpg', 'mountain.jpg', 'forest.jpg'];
        await shown.page.route('**/v1/library/files**', async (route) => {
          const body = await (await route.fetch()).json();
          const items = order.map((slug) =>
            body.items.find((item: { file_slug: string }) => item.file_slug === slug),
          );
          await route.fulfill({ json: { items, next_cursor: null } });
        });
        await pick({ select: 'many', theme });
        for (const each of ['forest.jpg', 'harbour.jpg', 'mountain.jpg']) {
          await tile(each).locator('img.loaded').waitFor();
        }
        await tile('forest.jpg').click();
        const tooWide = 'const { scrollWidth, clientWidth } = document.documentElement;';
        expect(await inFrame(`${tooWide} return scrollWidth - clientWidth`)).toBe(0);
        const parts = [shown.frame.getByRole('searchbox'), button('Close'), button('Insert')];
        for (const part of [...parts, tile('mountain.jpg')]) {
          const { x, y, ...size } = (await part.boundingBox()) ?? NOWHERE;
          expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
          expect(x + size.width).toBeLessThanOrEqual(width);
          expect(y + size.height).toBeLessThanOrEqual(height);
        }
        const taken = await shown.page.screenshot({ type: 'jpeg' });
        // Set TINTYPE_PICTURES=yes to update the screenshots of docs/picker.md.
        if (process.env['TINTYPE_PICTURES']) writeFileSync(pictureOf(name), taken);
        const [kept, now] = await Promise.all([readFileSync(pictureOf(name)), taken].map(pixelsOf));
        expect(kept?.info).toEqual(now?.info);
        expect(meanDifference(kept?.data, now?.data)).toBeLessThan(DIFFERENCE_MAX);
      },
    );

    it('is in German if the page asks for it, or the browser prefers it', async () => {
      await pick({ language: 'de' });
      await button('Schließen').click();
      shown = await visit(site, { locale: 'de-DE' });
      await pick();
      await button('Hochladen').waitFor();
      expect(await shown.frame.locator('html').getAttribute('lang')).toBe('de');
      expect(await shown.page.locator('iframe').getAttribute('title')).toBe('Bilder');
    });

    it('falls back to English for an unsupported language', async () => {
      await pick({ language: 'fr' });
      const dialog = shown.page.getByRole('dialog', { name: 'Choose images' });
      expect(await dialog.locator('iframe').getAttribute('title')).toBe('Images');
      await button('Upload').waitFor();
    });

    it.each([null, ''])('follows the browser if the language is %j', async (language) => {
      await pick({ language });
      await button('Upload').waitFor();
    });

    it('selects a single image if the value of select is unknown', async () => {
      await pick({ select: 'several' });
      for (const name of ['forest.jpg', 'harbour.jpg']) await tile(name).click();
      expect(await status().textContent()).toBe('1 selected');
    });

    it('uses options that its element was given before it was defined', async () => {
      await shown.page.evaluate(`
        const picker = document.createElement('tintype-picker');
        picker.options = { session: async () => (await fetch('/session', { method: 'POST', body: '{"refreshOf":null}' })).json() };
        document.body.append(picker);
        inline({});
      `);
      await eventually(() => shown.page.locator('iframe').count()).toBe(2);
    });

    it('has an options property before it is set, as frameworks expect', async () => {
      await shown.page.evaluate('inline({})');
      const has = 'document.createElement("tintype-picker").hasOwnProperty("options")';
      expect(await shown.page.evaluate(has)).toBe(true);
    });

    it('never scrolls sideways, whatever is searched for', async () => {
      await shown.page.setViewportSize({ width: 320, height: 568 });
      await pick();
      await shown.frame.getByRole('searchbox').fill('x'.repeat(90));
      await shown.frame.getByText('No image matches').last().waitFor();
      expect(await inFrame('return document.documentElement.scrollWidth')).toBe(320);
    });

    it('writes a name in a right-to-left script from right to left', async () => {
      await pick();
      await takeFiles([await jpeg('صورة (2).jpg', 61)]);
      const name = shown.frame.getByRole('option').locator('.name').first();
      await eventually(() => name.getAttribute('title')).toBe('صورة (2).jpg');
      expect(await name.evaluate((each) => each.matches(':dir(rtl)'))).toBe(true);
    });

    it('keeps few images in the document when it lists 100,000', async () => {
      await shown.page.route('**/v1/library/files**', (route) => {
        const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
        const items = Array.from({ length: 50_000 }, (_, index) => manyFile(from + index));
        const next = from + items.length;
        return route.fulfill({
          json: { items, next_cursor: next < 100_000 ? String(next) : null },
        });
      });
      await shown.page.route('**/thumbnail-*', (route) => route.fulfill({ status: 204 }));
      await shown.page.setViewportSize(DESKTOP);
      await pick();
      const list = shown.frame.getByRole('listbox');
      await list.focus();
      await eventually(async () => {
        await press('End');
        return status().textContent();
      }).toBe('100000 images');
      await press('End');
      await shown.frame.getByRole('option', { name: 'image-99999' }).waitFor();
      expect(await shown.frame.getByRole('option').count()).toBeLessThan(120);
      pressToEnd('Enter');
      expect(await chosen()).toEqual(['image-99999']);
    });
  });

  function manyFile(index: number) {
    const { delivery_root_domain: root, delivery_port, project_slug } = site.tintype.instance;
    const origin = `http://${project_slug}.${root}:${delivery_port}`;
    return {
      file_slug: `image-${index}`,
      file_id: `file_${index}`,
      revision: 1,
      width: 640,
      height: 480,
      title: null,
      alt_text: null,
      folder: '',
      original_filename: null,
      content_type: 'image/jpeg',
      size_bytes: 1000,
      created_at: '2026-01-01T00:00:00.000Z',
      url: `${origin}/image-${index}`,
      thumbnail_url: `${origin}/thumbnail-${index}`,
      dominant_color: '#446688',
      thumb_hash: '3OcRJYB4d3h/iIeHeEh3eIhw+j3A',
    };
  }
});
