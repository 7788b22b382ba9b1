/** Draws one image in a decoder, from the source bytes to the result. Spec: Delivery host. */
import type { RenderRequest } from '../../core/delivery/render-request.ts';
import type { Sandbox, SandboxJob, SandboxResult } from '../sandbox/sandbox.ts';
import { isInfrastructureFailure, SandboxFailure } from '../sandbox/sandbox-failure.ts';

export type Rendered = { bytes: Buffer; content_type: string };

/** `parts`: the source, then the watermark if there is one. Throws SandboxFailure. */
export async function draw(
  sandbox: Sandbox,
  { plan, window, frame }: Pick<RenderRequest, 'plan' | 'window' | 'frame'>,
  { parts, signal, object_key }: { parts: Buffer[]; signal: AbortSignal; object_key: string },
): Promise<Rendered> {
  const facts = { plan: { ...plan, window, frame } };
  const job = { kind: 'render', facts, parts, signal, about: { object_key } };
  return readAnswer(await runTwiceAtMost(sandbox, job), plan.format);
}

/**
 * Retries once if the image was not the cause; if that fails too, the caller is told to come again.
 */
async function runTwiceAtMost(sandbox: Sandbox, job: SandboxJob): Promise<SandboxResult> {
  try {
    return await sandbox.run(job);
  } catch (error) {
    if (!isInfrastructureFailure(error)) throw error;
    return sandbox.run(job);
  }
}

/** The child has decoded client bytes: its answer must match the request, or it is rejected. */
function readAnswer({ facts, parts }: SandboxResult, format: string): Rendered {
  const [bytes] = parts;
  const content_type = `image/${format}`;
  if (bytes === undefined || bytes.length === 0 || facts.content_type !== content_type) {
    throw new SandboxFailure('garbage', 'not what was asked for');
  }
  return { bytes, content_type };
}
