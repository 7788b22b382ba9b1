/**
 * Why a job in a decoder came to nothing: one failed attempt, never more. An `unstarted` one ended before it
 * could read anything; a `killed` one was killed by somebody else (the kernel that has no memory left, an operator).
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

/** What the picture has no part in. */
export function isNoFaultOfTheJob(error: unknown): boolean {
  return (
    error instanceof SandboxFailure && (error.reason === 'killed' || error.reason === 'unstarted')
  );
}
