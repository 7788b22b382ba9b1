/**
 * Kill -9 at random moments, three times (`make soak`: thirty), with several uploads and deliveries always in progress.
 * At the end every promise is checked. The same seed gives the same load and the same moments.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tintype } from '../contract/support/tintype.ts';
import { over, photograph, seededRandom } from '../support/pictures.ts';
import { SAMPLE_MS_MAX, TAKES_ALL } from '../support/sample.ts';
import { type Books, fetchImage, openBooks, send, untilEnded } from './support/client.ts';
import { type Money, readMoney } from './support/money.ts';
import {
  giveCallback,
  type Mortal,
  makeMortal,
  untilKilled,
  untilSpoolIsEmpty,
  withDatabase,
} from './support/mortal-tintype.ts';
import { brokenPromises } from './support/promises.ts';
import { charge, letADayPass, settleUploads } from './support/settle.ts';

const SEED = 20_261_121;
const ROUNDS = TAKES_ALL ? 30 : 3;
const UPLOADERS = 3;
const VIEWERS = 3;
const MS_MIN = 200;
const MS_MAX = 1500;
/** A few slugs, so that uploads replace each other's files. */
const SLUGS = ['one', 'two', 'three'];

const random = seededRandom(SEED);
const books: Books = openBooks();
const whole: Money[] = [];
let pictures: Buffer[];
let mortal: Mortal;
let alive: Tintype;

function pick<T>(from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('nothing to pick from');
  return picked;
}

/** Uploads repeatedly until the process is killed. */
async function uploadOnAndOn(tintype: Tintype): Promise<void> {
  for (;;) {
    const isDone = await send(tintype, books, {
      bytes: pick(pictures),
      file_slug: pick(SLUGS),
    }).then(
      () => true,
      () => false,
    );
    if (!isDone) return;
  }
}

async function fetchOnAndOn(tintype: Tintype): Promise<void> {
  for (;;) {
    const width = 100 + Math.floor(random() * 20) * 10;
    const chain = pick(['originals', `resize/${width}x`, `resize/${width}x/format/webp`]);
    if ((await fetchImage(tintype, books, `/${chain}/f/${pick(SLUGS)}`)) === undefined) return;
  }
}

async function liveAndDie(): Promise<void> {
  const tintype = await mortal.start();
  const clients = [
    ...Array.from({ length: UPLOADERS }, () => uploadOnAndOn(tintype)),
    ...Array.from({ length: VIEWERS }, () => fetchOnAndOn(tintype)),
  ];
  await sleep(MS_MIN + random() * (MS_MAX - MS_MIN));
  tintype.child.kill('SIGKILL');
  await untilKilled(tintype);
  await Promise.all(clients);
}

beforeAll(async () => {
  pictures = await Promise.all(
    [1, 2, 3].map((seed) =>
      over(photograph(1100 + seed * 50, 400, seed))
        .jpeg()
        .toBuffer(),
    ),
  );
  mortal = await makeMortal();
  const first = await mortal.start();
  await giveCallback(first);
  for (const file_slug of SLUGS) await send(first, books, { bytes: pick(pictures), file_slug });
  for (const uploadId of books.stored) await untilEnded(first, uploadId);
  await first.end('SIGKILL');
  for (let round = 1; round <= ROUNDS; round += 1) await liveAndDie();
  alive = await mortal.start();
  await settleUploads(alive, books);
  await untilSpoolIsEmpty(mortal.data);
}, SAMPLE_MS_MAX);

afterAll(() => mortal.remove());

describe('killing Tintype at random times', { shuffle: false }, () => {
  it('loses no upload whose bytes were stored', async () => {
    const ended = await Promise.all(books.stored.map((uploadId) => untilEnded(alive, uploadId)));
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'ready'));
  });

  it('counts every received delivery, and no others except interrupted ones', async () => {
    await charge(alive);
    const { hours, charged } = await withDatabase(alive, readMoney);
    const { answered, cut } = books;
    expect(hours.requests).toBeGreaterThanOrEqual(answered.requests);
    expect(hours.requests).toBeLessThanOrEqual(answered.requests + cut);
    expect(hours.bytes).toBeGreaterThanOrEqual(answered.bytes);
    expect(charged).toBe(hours.credits);
    whole.push(await withDatabase(alive, readMoney));
  });

  it('charges nothing twice when the jobs run again', async () => {
    await charge(alive);
    expect(await withDatabase(alive, readMoney)).toEqual(whole.at(-1));
  });

  it('leaves no inconsistent rows, objects or files', async () => {
    await letADayPass(alive);
    expect(await withDatabase(alive, (db) => brokenPromises(db, mortal.data))).toEqual([]);
  });
});
