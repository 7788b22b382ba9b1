/**
 * Why a job in a decoder failed: one failed attempt, never more. An `unstarted` child ended before it could read
 * anything; a `killed` one was killed from outside (by the kernel when out of memory, or by an operator).
 */

export type SandboxFailureReason =
  | 'timeout'
  | 'out_of_memory'
  | 'crashed'
  | 'garbage'
  | 'unstarted'
  | 'killed';

export class SandboxFailure extends Error {
  readonly reason: SandboxFailureReason;

  constructor(reason: SandboxFailureReason, detail: string) {
    super(`decoder: ${reason}: ${detail}`);
    this.name = 'SandboxFailure';
    this.reason = reason;
  }
}

/** Failures of which the image is not the cause. */
export function isInfrastructureFailure(error: unknown): boolean {
  return (
    error instanceof SandboxFailure && (error.reason === 'killed' || error.reason === 'unstarted')
  );
}
