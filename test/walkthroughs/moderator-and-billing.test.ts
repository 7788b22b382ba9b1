// Runs docs/walkthroughs/moderator-and-billing.md as written, on a fresh Tintype with the embedded scanner. Also reads
// a bill of a whole month, while the walkthrough takes one day.

import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../runtime/core/durations.ts';
import { createDatabase } from '../../runtime/db/client.ts';
import { insertUsageBatch } from '../../runtime/db/usage-batches.ts';
import { runJob } from '../../runtime/jobs/run-job.ts';
import { resolveRunTimes } from '../../runtime/jobs/scheduler.ts';
import { jobs } from '../../runtime/jobs/table.ts';
import { readFences, readShellBlocks } from '../contract/support/blocks.ts';
import { readStart } from '../contract/support/start-line.ts';
import {
  makeFolder,
  projectRoot,
  removeFolder,
  startTintype,
  type Tintype,
} from '../contract/support/tintype.ts';
import { identify } from '../contract/support/tools.ts';
import { makeJobs } from '../support/jobs.ts';
import { over, photograph } from '../support/pictures.ts';
import { openShell, type Shell, typeBlock } from './support/shell.ts';

const DOCUMENT = 'docs/walkthroughs/moderator-and-billing.md';
/** The first is delivered as an original, and should cost more than one credit. */
const PICTURES = [
  ['one', 2400],
  ['two', 600],
  ['three', 600],
] as const;

let folder: string;
let tintype: Tintype;
let shell: Shell;
let blocks: string[];

beforeAll(async () => {
  const { env } = readStart(DOCUMENT);
  [folder, tintype] = await Promise.all([makeFolder(), startTintype({ env })]);
  await symlink(join(projectRoot, 'docs'), join(folder, 'docs'));
  for (const [index, [name, width]] of PICTURES.entries()) {
    const picture = over(photograph(width, (width / 3) * 2, index + 1)).jpeg({ quality: 100 });
    await writeFile(join(folder, `${name}.jpg`), await picture.toBuffer());
  }
  blocks = readShellBlocks(DOCUMENT);
  shell = openShell({ folder, tintype });
}, 300_000);

afterAll(async () => {
  await Promise.all([shell?.close(), tintype?.end('SIGTERM')]);
  await Promise.all([folder, tintype?.data].map(removeFolder));
});

const typeNext = () => typeBlock(shell, blocks);

const linesOf = (printed: string) => printed.trim().split('\n');
/** Replaces numbers by 0, and merges equal neighbors, because usage may span one hour or two. */
const shapesOf = (lines: readonly string[]) =>
  lines
    .map((line) => line.replaceAll(/\d+(?:\.\d+)?/g, '0'))
    .filter((line, at, all) => line !== all[at - 1]);
const deskHas = (name: string) => readFile(join(folder, 'desk', name));

describe('a moderator and a billing clerk', { shuffle: false }, () => {
  describe('the moderator', { timeout: 120_000, retry: 0 }, () => {
    it('finds the uploaded pictures in the queue', async () => {
      await typeNext();
      const seen = linesOf(await typeNext()).slice(-3);
      expect(seen.map((line) => line.split(':')[0])).toEqual(['one.jpg', 'three.jpg', 'two.jpg']);
    });

    it('empties the queue, after which a rejected file is no longer delivered', async () => {
      expect(linesOf(await typeNext())).toEqual(['0']);
      expect(await identify(await deskHas('thumb.webp'))).toMatchObject({ format: 'WEBP' });
      expect(linesOf(await typeNext())).toEqual(['file_blocked']);
    });

    it('reads the appeal, looks at the picture again and unblocks the file', async () => {
      expect(linesOf(await typeNext())).toEqual(['blocked']);
      const appeal = expect.stringContaining('our own drawing');
      expect(linesOf(await typeNext())).toEqual([appeal, 'ready']);
      expect(await identify(await deskHas('large.webp'))).toMatchObject({ format: 'WEBP' });
      expect(linesOf(await typeNext())).toEqual(
        expect.arrayContaining(['file.unblock by staff', 'file.block by staff']),
      );
    });
  });

  describe('the billing clerk', { timeout: 120_000, retry: 0 }, () => {
    it('finds that deliveries add up to the bill, and the bill to what the balance lost', async () => {
      const expected = Number(linesOf(await typeNext()).at(-1));
      await typeNext();
      const printed = linesOf(await typeNext());
      const [shown] = readFences(DOCUMENT).filter(({ language }) => language === 'text');
      expect(shapesOf(printed)).toEqual(shapesOf(linesOf(shown?.text ?? '')));
      const lost = Number(printed.at(-1));
      const totals = printed.flatMap((line) => {
        const [, credits, charged] = /in all {2}(\d+) credits, charged (\d+)/.exec(line) ?? [];
        return credits === undefined ? [] : [[Number(credits), Number(charged)]];
      });
      expect(totals[1]).toEqual([expected, expected]);
      expect(totals.reduce((sum, [, charged = 0]) => sum + charged, 0)).toBe(lost);
      expect(printed.filter((line) => line.includes('MISSING'))).toEqual([]);
    });

    it('finds no difference between metered, summed and charged usage', async () => {
      expect(linesOf(await typeNext())).toEqual(['[]']);
      expect(blocks).toEqual([]);
    });

    it('reads the bill of a month in the same way, with days that are not charged yet', async () => {
      const month = await bookMonth();
      const bill = linesOf(await shell.type(BILL_OF_THE_MONTH));
      for (const [day, credits] of month) {
        const sum = `${credits} credits (the hours add up)`;
        expect(bill).toContain(`  ${day}  ${sum}, charged ${credits} with all of its hours final`);
      }
      expect(bill).toContain(`  ${dayBefore(UNCHARGED)}  23 credits, not charged yet`);
      expect(bill.filter((line) => line.includes('MISSING'))).toEqual([]);
    });
  });

  const dayBefore = (days: number) =>
    new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  /**
   * The bill since 30 days ago, which includes part of a day before the default range of 30 days.
   */
  const BILL_OF_THE_MONTH = [
    `staff GET "/v1/staff/projects/autumn/usage?from=${dayBefore(30)}"`,
    'node docs/walkthroughs/moderator-and-billing/bill.js',
  ].join(' | ');
  const DAYS = [30, 9, 8, 7, 6, 5, 4];
  const UNCHARGED = 1;

  /**
   * Inserts late deliveries of earlier days, sums them, and runs the charge jobs that would have
   * run, except for yesterday. Returns the cost of each charged day.
   */
  async function bookMonth(): Promise<[day: string, credits: number][]> {
    const db = createDatabase({ url: tintype.instance.database_url });
    const project = "select project_id from projects where project_slug = 'autumn'";
    const [{ project_id = '' } = {}] = await db.query<{ project_id: string }>(project);
    const entries = [...DAYS, UNCHARGED].flatMap((days) =>
      [0, 3, 17].map((hour) => {
        const window_start = new Date(`${dayBefore(days)}T${String(hour).padStart(2, '0')}:00:00Z`);
        const credits = days * (hour + 1);
        return {
          project_id,
          window_start,
          requests: 1,
          bytes: credits * 2 ** 20,
          transforms: 0,
          credits,
        };
      }),
    );
    await insertUsageBatch(db, { spool_id: 'of-the-month', sequence: 1, entries });
    const { deps, close } = await makeJobs(db);
    const run = async (name: 'hourly-rollup' | 'daily-charge', wanted?: Date) => {
      const job = jobs[name];
      for (const at of await resolveRunTimes(deps, { name, job, at: wanted })) {
        const { signal } = new AbortController();
        expect(await runJob(deps, { name, job, at, signal })).toMatchObject({ outcome: 'done' });
      }
    };
    await run('hourly-rollup');
    for (const days of [29, 6, 3]) {
      await run('daily-charge', new Date(`${dayBefore(days)}T04:00:00Z`));
    }
    await close();
    await db.close();
    return DAYS.map((days) => [dayBefore(days), days * (1 + 4 + 18)]);
  }
});
