/** The real decoder, for ingest and render jobs. */
import { afterAll, beforeAll } from 'vitest';
import { createLog } from '../../runtime/platform/log.ts';
import type { IngestResult } from '../../runtime/worker/ingest/ingest-result.ts';
import { readIngestAnswer } from '../../runtime/worker/ingest/read-answer.ts';
import type { RenderedImage, RenderInput } from '../../runtime/worker/render/render.ts';
import { createSandbox } from '../../runtime/worker/sandbox/sandbox.ts';

export type Decoder = {
  ingest(bytes: Buffer, contentType: string): Promise<IngestResult>;
  /** Returns the error code with which the image is rejected, or undefined if it is accepted. */
  refusal(bytes: Buffer, contentType: string): Promise<string | undefined>;
  render(input: RenderInput): Promise<RenderedImage>;
};

/** Call it once per test file. */
export function useDecoder(): Decoder {
  let made: ReturnType<typeof createDecoder> | undefined;
  beforeAll(() => {
    made = createDecoder();
  });
  afterAll(() => made?.close());
  const decoder = () => {
    if (made === undefined) throw new Error('the decoder is there from beforeAll on');
    return made;
  };
  return {
    ingest: (bytes, contentType) => decoder().ingest(bytes, contentType),
    refusal: (bytes, contentType) => decoder().refusal(bytes, contentType),
    render: (input) => decoder().render(input),
  };
}

const WALL_CLOCK_MS = 60_000;

/** The caller must close it. */
export function createDecoder(
  { slots, wall_clock_ms } = { slots: 1, wall_clock_ms: WALL_CLOCK_MS },
): Decoder & { close(): Promise<void> } {
  const sandbox = createSandbox({
    slots,
    wall_clock_ms,
    memory_bytes: 2_000_000_000,
    jobs_per_child: 1000,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  const ingest = async (bytes: Buffer, content_type: string) =>
    readIngestAnswer(
      await sandbox.run({ kind: 'ingest', facts: { content_type }, parts: [bytes] }),
    );
  return {
    ingest,
    refusal: (bytes, contentType) =>
      ingest(bytes, contentType).then(
        () => undefined,
        (error) => error.code ?? error.reason,
      ),
    render: async ({ plan, source, watermark }) => {
      const parts = watermark ? [source, watermark] : [source];
      const answer = await sandbox.run({ kind: 'render', facts: { plan }, parts });
      const facts = answer.facts as Omit<RenderedImage, 'bytes'>;
      return { ...facts, bytes: answer.parts[0] ?? Buffer.alloc(0) };
    },
    close: () => sandbox.close(),
  };
}
