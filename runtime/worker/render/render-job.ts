/** The child's side of a render job: source and watermark bytes in, one image out. */
import type { JobAnswer } from '../sandbox/serve-jobs.ts';
import { type RenderInput, render } from './render.ts';

export async function renderJob(facts: unknown, [source, watermark]: Buffer[]): Promise<JobAnswer> {
  if (source === undefined) throw new Error('a render job without bytes');
  const { plan } = facts as { plan: RenderInput['plan'] };
  const { bytes, ...known } = await render({ plan, source, watermark: watermark ?? null });
  return { facts: known, parts: [bytes] };
}
