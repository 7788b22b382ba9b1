// Types the commands of docs/libraries.md, docs/picker.md and docs/moderation.md as written, on a fresh Tintype with
// the embedded scanner.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { raisedFlags } from '../../runtime/core/scan-flags.ts';
import { jsonIn, readFences, readShellBlocks } from '../contract/support/blocks.ts';
import { type Caller, withKey } from '../contract/support/client.ts';
import {
  makeFolder,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { identify } from '../contract/support/tools.ts';
import { over, photograph } from '../support/pictures.ts';
import { openShell, type Shell } from '../walkthroughs/support/shell.ts';

const SCANNER = {
  TINTYPE_SCANNER: 'embedded',
  TINTYPE_SCANNER_THRESHOLDS: 'neutral=0,drawing=0',
};
let folder: string;
let tintype: Tintype;
let shell: Shell;
let api: Caller;

beforeAll(async () => {
  [folder, tintype] = await Promise.all([makeFolder(), startTintype({ env: SCANNER })]);
  await writeFile(join(folder, 'hero.jpg'), await over(photograph(900, 600)).jpeg().toBuffer());
  shell = openShell({ folder, tintype });
  await shell.type('eval "$(npx tintype env)"; staff() { npx tintype call --staff "$@"; }');
  api = withKey(tintype, tintype.instance.api_key);
}, 300_000);

afterAll(async () => {
  await Promise.all([shell?.close(), tintype?.end('SIGTERM')]);
  await Promise.all([folder, tintype?.data].map(removeFolder));
});

async function typeAll(document: string): Promise<string[]> {
  const printed = [];
  for (const block of readShellBlocks(document)) printed.push(await shell.type(block));
  return printed;
}

/** The response that docs/moderation.md shows, without the mark of the fields that it leaves out. */
function readShownQueue() {
  const [shown] = readFences('docs/moderation.md').filter(({ language }) => language === 'text');
  return JSON.parse((shown?.text ?? '').replace(/, … }/, ' }'));
}

describe('the commands in the documents', { shuffle: false }, () => {
  describe('libraries', { timeout: 120_000 }, () => {
    it('create a library, mint a session for it and build the indexes', async () => {
      const [made, minted, built] = await typeAll('docs/libraries.md');
      expect(jsonIn(made ?? '')).toMatchObject([{ slug: 'news', name: 'Pictures of the news' }]);
      const [session] = jsonIn(minted ?? '');
      expect(session).toMatchObject({ library: 'news', folder: '2026' });
      const { status } = await fetch(session.embed_url);
      expect(status).toBe(200);
      expect(built).toContain('library-indexes');
    });

    it('create the library of the picker', async () => {
      const [made] = await typeAll('docs/picker.md');
      expect(jsonIn(made ?? '')).toMatchObject([{ allowed_origins: ['http://localhost:3000'] }]);
    });
  });

  describe('moderation', { timeout: 120_000 }, () => {
    const [ask = '', look, decide, block, appeals, ...others] =
      readShellBlocks('docs/moderation.md');
    let check_id = '';
    let file_id = '';

    /** Replaces the example ids by those of the real check and file. */
    const type = (typed = '') =>
      shell.type(typed.replaceAll('chk_…', check_id).replaceAll('file_…', file_id));
    const statusNow = async () =>
      (await api('GET', '/v1/projects/demo/files/hero.jpg')).body.status;

    it('list the flagged file in the queue', async () => {
      await shell.type('npx tintype upload hero.jpg');
      const found = await vi.waitUntil(
        async () => JSON.parse(await shell.type(ask)).items[0],
        60_000,
      );
      expect(found).toMatchObject({ file_slug: 'hero.jpg', status: 'flagged', revision: 1 });
      ({ check_id, file_id } = found);
      const { items, ...rest } = readShownQueue();
      expect(rest).toEqual({ next_cursor: '…' });
      const [{ check_id: shownId, file_id: shownFile, flags, scores, ...same }] = items;
      expect([shownId, shownFile]).toEqual(['chk_…', 'file_…']);
      expect([check_id, file_id].map((id) => id.split('_')[0])).toEqual(['chk', 'file']);
      expect(found).toMatchObject(same);
      expect(Object.keys(found)).toEqual(expect.arrayContaining(Object.keys(items[0])));
      // The scores are those of another scanner, and raise these flags by default.
      expect(raisedFlags(scores, {})).toEqual(flags);
      expect(flags).not.toEqual([]);
    });

    it('download small and large previews, and block the file', async () => {
      await type(look);
      for (const size of ['thumb', 'large']) {
        const picture = await readFile(join(folder, `${size}.webp`));
        expect(await identify(picture)).toMatchObject({ format: 'WEBP' });
      }
      await type(decide);
      expect(await statusNow()).toBe('blocked');
    });

    it('block and unblock the file, and list the notes of owners', async () => {
      await type(block);
      expect(await statusNow()).toBe('ready');
      const path = '/v1/projects/demo/files/hero.jpg/moderation-notes';
      await shell.type(`npx tintype call POST ${path} '{"note":"our own"}'`);
      expect(JSON.parse(await type(appeals))).toMatchObject({ items: [{ note: 'our own' }] });
      expect(others).toEqual([]);
    });
  });
});
