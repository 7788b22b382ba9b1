/** The latency of valid uploads, and of renders, alone and among hostile uploads. A hostile file may block its own slot, but no other. */
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { put, withKey } from '../contract/support/client.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { decoderPids, isRunning, ticksOf } from '../support/decoder-processes.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { measureHostileNeighbours, whileRendering } from './hostile-neighbours.ts';

const GOOD = 24;
const POISON = 8;
const POLL_MS = 5;
/** CPU ticks after which a decoder is certainly decoding and no longer starting. */
const BUSY_TICKS = 60;

export async function measureNeighbours(tintype: Tintype): Promise<Figure[]> {
  const good = await makeGood();
  // Warms up, because the first uploads run code that is not compiled yet.
  await measureAll(tintype, { good, poison: [] });
  const alone = await measureAll(tintype, { good, poison: [] });
  const together = await measureAll(tintype, { good, poison: await makePoison() });
  const free = await measureAll(tintype, { good, poison: [] });
  const held = await measureHeld(tintype, good);
  const p95 = (all: number[]) => percentile(all, 0.95);
  const hostile = await measureHostileNeighbours(tintype);
  // Waits for the hostile uploads, which are decoded for a while.
  await untilEnded(tintype, await send(tintype, 'image/jpeg', good));
  return [
    figure('24 good uploads alone: accepted to ready', 'ms', alone),
    figure('24 good uploads among 8 poisonous: accepted to ready', 'ms', together),
    figure('neighbours of poison: p95, times that of good ones alone', '', [
      p95(together) / p95(alone),
    ]),
    figure('24 good uploads beside a slot that hangs: accepted to ready', 'ms', held),
    figure('neighbours of a hanging slot: p95, times that of good ones alone', '', [
      p95(held) / p95(free),
    ]),
    ...hostile,
    figure(
      '24 good uploads while renders take all cores: accepted to ready',
      'ms',
      await whileRendering(tintype, () => measureAll(tintype, { good, poison: [] })),
    ),
  ];
}

/** Sends valid uploads one after the other. Does not wait for the hostile ones in between. */
async function measureAll(
  tintype: Tintype,
  { good, poison }: { good: Buffer; poison: readonly Buffer[] },
): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < GOOD; index += 1) {
    const hostile = poison[index / (GOOD / POISON)];
    if (hostile !== undefined) await send(tintype, 'image/png', hostile);
    const started = performance.now();
    await untilEnded(tintype, await send(tintype, 'image/jpeg', good));
    times.push(performance.now() - started);
  }
  return times;
}

/**
 * Stops a decoder in the middle of an image, so that it blocks its slot until the wall-clock limit.
 */
async function measureHeld(tintype: Tintype, good: Buffer): Promise<number[]> {
  const before = new Map(decoderPids().map((pid) => [pid, ticksOf(pid)]));
  await send(tintype, 'image/png', await makeLong());
  const hung = await firstBusy(before);
  process.kill(hung, 'SIGSTOP');
  const times = await measureAll(tintype, { good, poison: [] });
  if (!isRunning(hung)) throw new Error('the slot was free before the end of the measurement');
  process.kill(hung, 'SIGCONT');
  return times;
}

async function firstBusy(before: ReadonlyMap<number, number>): Promise<number> {
  for (;;) {
    const busy = decoderPids().find((pid) => ticksOf(pid) - (before.get(pid) ?? 0) > BUSY_TICKS);
    if (busy !== undefined) return busy;
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
}

async function send(tintype: Tintype, content_type: string, bytes: Buffer): Promise<string> {
  const api = withKey(tintype, tintype.instance.api_key);
  const path = `/v1/projects/${tintype.instance.project_slug}/uploads`;
  const file_slug = `neighbour-${randomBytes(6).toString('hex')}`;
  const created = await api('POST', path, { content_type, size_bytes: bytes.length, file_slug });
  await put(created.body.direct.put_url, created.body.direct.headers, bytes);
  await api('POST', `${path}/${created.body.upload_id}/complete`);
  return `${path}/${created.body.upload_id}`;
}

async function untilEnded(tintype: Tintype, path: string): Promise<void> {
  const api = withKey(tintype, tintype.instance.api_key);
  for (;;) {
    const { status } = (await api('GET', path)).body;
    if (status === 'ready') return;
    if (status === 'failed') throw new Error('a good upload was refused');
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
}

async function makeGood(): Promise<Buffer> {
  const noise = { width: 1600, height: 1200, channels: 3 as const };
  const pixels = randomBytes(noise.width * noise.height * noise.channels);
  return sharp(pixels, { raw: noise }).blur(3).jpeg({ quality: 85 }).toBuffer();
}

/** An image that takes seconds to decode. */
async function makeLong(): Promise<Buffer> {
  const noise = { width: 6000, height: 4000, channels: 3 as const };
  const pixels = randomBytes(noise.width * noise.height * noise.channels);
  return sharp(pixels, { raw: noise }).png({ compressionLevel: 1 }).toBuffer();
}

/** Truncated and damaged pixel bombs, and files that declare a false size. */
async function makePoison(): Promise<Buffer[]> {
  const create = { width: 9000, height: 9000, channels: 3 as const, background: '#123456' };
  const bomb = await sharp({ create, limitInputPixels: false }).png().toBuffer();
  const cut = bomb.subarray(0, Math.floor(bomb.length / 2));
  const lie = Buffer.from(bomb);
  lie.writeUInt32BE(0x7fff_ffff, 16);
  const flipped = Buffer.from(bomb);
  flipped.writeUInt32BE(0xdead_beef, Math.floor(bomb.length / 3));
  return [cut, lie, flipped, cut, lie, flipped, cut, lie];
}
