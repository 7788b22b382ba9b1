import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Frame,
  FrameError,
  printFrameHead,
  readFrames,
} from '../../../../runtime/worker/sandbox/frames.ts';

const bounds = { part_bytes_max: 10_000, parts_max: 4 };

function printFrame(message: object, parts: readonly Uint8Array[]): Buffer {
  const lengths = parts.map((part) => part.length);
  return Buffer.concat([printFrameHead(message, lengths), ...parts]);
}

async function readAll(chunks: readonly Buffer[]) {
  async function* source() {
    yield* chunks;
  }
  const frames: Frame[] = [];
  for await (const frame of readFrames(source(), bounds)) frames.push(frame);
  return frames;
}

function cutUp(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe('frames', () => {
  it('are read as they were written, however the stream is split', async () => {
    const part = fc.uint8Array({ maxLength: 200 });
    const frame = fc.record({ text: fc.string(), parts: fc.array(part, { maxLength: 4 }) });
    const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 4 }), cuts, async (frames, sizes) => {
        const bytes = Buffer.concat(frames.map(({ text, parts }) => printFrame({ text }, parts)));
        const read = await readAll(cutUp(bytes, sizes));
        expect(read.map(({ message }) => message.text)).toEqual(frames.map(({ text }) => text));
        expect(read.map(({ parts }) => parts.map((one) => [...one]))).toEqual(
          frames.map(({ parts }) => parts.map((one) => [...one])),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('throw if the stream ends inside one', async () => {
    const whole = printFrame({ a: 1 }, [Buffer.alloc(20)]);
    for (let length = 1; length < whole.length; length += 1) {
      await expect(readAll([whole.subarray(0, length)])).rejects.toThrow(FrameError);
    }
    expect(await readAll([whole])).toHaveLength(1);
  });

  it.each([
    ['more bytes than allowed', { message: {}, parts: [10_001] }],
    ['more bytes than allowed together', { message: {}, parts: [6000, 6000] }],
    ['too many parts', { message: {}, parts: [1, 1, 1, 1, 1] }],
    ['a negative length', { message: {}, parts: [-1] }],
    ['a broken length', { message: {}, parts: [1.5] }],
    ['no parts', { message: {} }],
    ['no message', { parts: [] }],
    ['a message that is a list', { message: [], parts: [] }],
    ['nothing', null],
  ])('throw for a head with %s', async (_, head) => {
    const text = Buffer.from(JSON.stringify(head));
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE(text.length);
    await expect(readAll([prefix, text])).rejects.toThrow(FrameError);
  });

  it('throw for a head that is too long, before it is read', async () => {
    await expect(readAll([Buffer.from('ffffffff', 'hex')])).rejects.toThrow(FrameError);
  });
});
