/** The real decoder child for a test file, and the two jobs that it knows. */
import { afterAll, beforeAll } from 'vitest';
import { createLog } from '../../runtime/platform/log.ts';
import type { IngestResult } from '../../runtime/worker/ingest/ingest-result.ts';
import { readIngestAnswer } from '../../runtime/worker/ingest/read-answer.ts';
import type { RenderedImage, RenderInput } from '../../runtime/worker/render/render.ts';
import { createSandbox, type Sandbox } from '../../runtime/worker/sandbox/sandbox.ts';

export type Decoder = {
  ingest(bytes: Buffer, contentType: string): Promise<IngestResult>;
  /** The error code that the image is refused with; undefined when it is taken. */
  refusal(bytes: Buffer, contentType: string): Promise<string | undefined>;
  render(input: RenderInput): Promise<RenderedImage>;
};

export function useDecoder(): Decoder {
  let sandbox: Sandbox | undefined;
  beforeAll(() => {
    sandbox = createSandbox({
      slots: 1,
      wall_clock_ms: 60_000,
      memory_bytes: 2_000_000_000,
      jobs_per_child: 1000,
      log: createLog({ level: 'silent', name: 'test' }),
    });
  });
  afterAll(() => sandbox?.close());
  const run = (kind: string, facts: object, parts: Buffer[]) => {
    if (sandbox === undefined) throw new Error('the decoder is there from beforeAll on');
    return sandbox.run({ kind, facts, parts });
  };
  const ingest = async (bytes: Buffer, contentType: string) =>
    readIngestAnswer(await run('ingest', { content_type: contentType }, [bytes]));
  return {
    ingest,
    refusal: (bytes, contentType) =>
      ingest(bytes, contentType).then(
        () => undefined,
        (error) => error.code ?? error.reason,
      ),
    render: async ({ plan, source, watermark }) => {
      const { facts, parts } = await run(
        'render',
        { plan },
        watermark ? [source, watermark] : [source],
      );
      return { ...(facts as Omit<RenderedImage, 'bytes'>), bytes: parts[0] ?? Buffer.alloc(0) };
    },
  };
}
