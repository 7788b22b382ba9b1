/** One image in a decoder, from the bytes that were read to those of the result. Spec: Delivery host. */
import type { RenderRequest } from '../../core/delivery/render-request.ts';
import type { Sandbox, SandboxJob, SandboxResult } from '../sandbox/sandbox.ts';
import { isNoFaultOfTheJob, SandboxFailure } from '../sandbox/sandbox-failure.ts';

export type Rendered = { bytes: Buffer; content_type: string };

/** The source first, then the watermark where there is one. Throws SandboxFailure. */
export async function draw(
  sandbox: Sandbox,
  { plan, window, frame }: Pick<RenderRequest, 'plan' | 'window' | 'frame'>,
  { parts, signal, object_key }: { parts: Buffer[]; signal: AbortSignal; object_key: string },
): Promise<Rendered> {
  const facts = { plan: { ...plan, window, frame } };
  const job = { kind: 'render', facts, parts, signal, about: { object_key } };
  return readAnswer(await runTwiceAtMost(sandbox, job), plan.format);
}

/** Once more where the picture had no part in the failure; who waits is told to come again where that fails too. */
async function runTwiceAtMost(sandbox: Sandbox, job: SandboxJob): Promise<SandboxResult> {
  try {
    return await sandbox.run(job);
  } catch (error) {
    if (!isNoFaultOfTheJob(error)) throw error;
    return sandbox.run(job);
  }
}

/** The child has decoded what clients sent: its answer has to be what was asked for, or it is none. */
function readAnswer({ facts, parts }: SandboxResult, format: string): Rendered {
  const [bytes] = parts;
  const content_type = `image/${format}`;
  if (bytes === undefined || bytes.length === 0 || facts.content_type !== content_type) {
    throw new SandboxFailure('garbage', 'not what was asked for');
  }
  return { bytes, content_type };
}
