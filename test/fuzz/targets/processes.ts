/** Messages between Tintype's own processes: a decoder has seen hostile bytes, and a broker or a disk may be faulty. */
import assert from 'node:assert/strict';
import { ZodError } from 'zod';
import { previewRequestSchema } from '../../../runtime/core/delivery/preview-request.ts';
import {
  renderReplySchema,
  renderRequestSchema,
} from '../../../runtime/core/delivery/render-request.ts';
import { foldDeliveries } from '../../../runtime/delivery/usage-batch.ts';
import { textDestination } from '../../../runtime/platform/log-text.ts';
import { parseMessage, printMessage } from '../../../runtime/platform/queue/rabbitmq-message.ts';
import { IngestRefusal } from '../../../runtime/worker/ingest/ingest-refusal.ts';
import { readIngestAnswer } from '../../../runtime/worker/ingest/read-answer.ts';
import {
  type Frame,
  FrameError,
  printFrameHead,
  readFrames,
} from '../../../runtime/worker/sandbox/frames.ts';
import { SandboxFailure } from '../../../runtime/worker/sandbox/sandbox-failure.ts';
import { bytes, refusals, type Target, text } from '../target.ts';
import { parseJson } from './parse-json.ts';

const BOUNDS = { part_bytes_max: 10_000, parts_max: 4 };
const PIECE_BYTES = 7;

function frameOf(message: object, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([
    printFrameHead(
      message,
      parts.map(({ length }) => length),
    ),
    ...parts,
  ]);
}

async function framesIn(input: Buffer): Promise<Frame[]> {
  async function* pieces() {
    for (let at = 0; at < input.length; at += PIECE_BYTES)
      yield input.subarray(at, at + PIECE_BYTES);
  }
  const frames: Frame[] = [];
  for await (const frame of readFrames(pieces(), BOUNDS)) frames.push(frame);
  return frames;
}

const rewritten = (message: unknown) => JSON.parse(JSON.stringify(message));

const frames = bytes({
  name: 'frames-of-decoders',
  seeds: () => [
    frameOf({ a: 1, text: 'é' }, [Buffer.from('part')]),
    Buffer.concat([frameOf({}, []), frameOf({ b: [] }, [Buffer.alloc(20), Buffer.alloc(0)])]),
  ],
  async run(input) {
    const read = await framesIn(input);
    for (const { parts } of read) {
      assert.ok(parts.length <= BOUNDS.parts_max);
      assert.ok(Buffer.concat(parts).length <= BOUNDS.part_bytes_max);
    }
    const printed = Buffer.concat(read.map(({ message, parts }) => frameOf(message, parts)));
    // JSON.stringify writes -0 as 0.
    const written = read.map((frame) => ({ ...frame, message: rewritten(frame.message) }));
    assert.deepEqual(await framesIn(printed), written);
    return read;
  },
  refuses: refusals(FrameError),
});

const ANSWER = {
  content_type: 'image/webp',
  width: 640,
  height: 480,
  has_alpha: false,
  is_lossless: false,
  focal_x: 0.5,
  focal_y: 0.5,
  dominant_color: '#a0b1c2',
  thumb_hash: 'AAECAw==',
  location: { latitude: 52.5, longitude: 13.4 },
  taken_at: '2026-11-20T08:00:00.000Z',
  has_native: true,
  mezzanines: [{ long_edge: 320, width: 320, height: 240, content_type: 'image/jpeg' }],
  metadata: ['exif', 'icc'],
};

const answers = text({
  name: 'answers-of-decoders',
  seeds: () => [
    JSON.stringify(ANSWER),
    JSON.stringify({ ...ANSWER, location: null, has_native: false, mezzanines: [], metadata: [] }),
    '{"error_code":"image_too_large","detail":"9x9"}',
  ],
  run(input) {
    const facts = parseObject(input);
    if (facts === undefined) return undefined;
    const { mezzanines, metadata, has_native } = facts;
    const count = 1 + Number(has_native === true) + sizeOf(mezzanines) + sizeOf(metadata);
    const parts = Array.from({ length: Math.min(count, 12) }, () => Buffer.from('part'));
    const result = readIngestAnswer({ facts, parts });
    assert.ok(result.width > 0 && result.height > 0 && result.mezzanines.length <= 4);
    return result;
  },
  refuses: (error) => refusals(IngestRefusal)(error) || refusals(SandboxFailure)(error),
});

const sizeOf = (list: unknown) => (Array.isArray(list) ? list.length : 0);

function parseObject(json: string): Record<string, unknown> | undefined {
  const value = parseJson(json);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

const BOX = { x: 0, y: 0, width: 640, height: 480 };
const RENDER = {
  project_id: 'prj_1',
  derived_key: 'prj_1/d/1',
  source_key: 'prj_1/f/1',
  window: BOX,
  frame: BOX,
  cost_ms: 12.5,
  is_warm: true,
  plan: {
    window: BOX,
    output: { width: 64, height: 48 },
    format: 'webp',
    quality: 80,
    watermark: null,
  },
};
const { derived_key: _, is_warm: __, ...PREVIEW } = { ...RENDER, read_ms_max: 500 };
const REPLY = { content_type: 'image/webp', size_bytes: 3, bytes: Buffer.from('abc') };

/** An invalid message must throw, so that the consumer sets it aside. */
const messages = bytes({
  name: 'messages-of-the-broker',
  seeds: () => [RENDER, PREVIEW, REPLY, { version: 1, list: [1] }, 'text'].map(printMessage),
  run(input) {
    const value = parseMessage(input);
    assert.deepEqual(parseMessage(printMessage(value)), value);
    const schemas = [renderRequestSchema, previewRequestSchema, renderReplySchema];
    return schemas.map((schema) => schema.safeParse(value).success).concat(value !== undefined);
  },
  refuses: (error) =>
    [ZodError, SyntaxError, RangeError].some((kind) => error instanceof kind) ||
    (error instanceof Error && error.message === 'the message is not whole'),
});

const LINE = {
  at: 1_794_000_000_000,
  project_id: 'prj_1',
  bytes: 1234,
  kind: 'derived',
  is_watermarked: true,
};

const spool = text({
  name: 'lines-of-the-spool',
  seeds: () => [
    [LINE, { ...LINE, kind: 'raw', bytes: 0 }, LINE].map((line) => JSON.stringify(line)).join('\n'),
  ],
  run(input) {
    const lines = input.split('\n').map(parseJson);
    const entries = foldDeliveries(lines);
    const requests = entries.reduce((total, entry) => total + entry.requests, 0);
    assert.equal(requests, lines.length, 'a delivery was lost or counted twice');
    assert.ok(entries.every(({ credits, bytes: sum }) => credits >= 0 && sum >= 0));
    return entries;
  },
  refuses: refusals(ZodError),
});

const logLines = text({
  name: 'log-lines',
  seeds: () => [
    '{"level":"warn","time":"2026-11-20T08:00:00.000Z","msg":"a b","x":{"y":1},"error":{"stack":"E\\n at f","cause":{"message":"m"}}}',
  ],
  run(input) {
    const printed: string[] = [];
    textDestination({ write: (line) => void printed.push(line) }).write(input);
    assert.equal(printed.length, 1);
    return printed[0] === input ? undefined : printed;
  },
});

export const processTargets: readonly Target[] = [frames, answers, messages, spool, logLines];
