/** Why a job in a decoder child came to nothing: one failed attempt, never more. */

export type SandboxFailureReason = 'timeout' | 'out_of_memory' | 'crashed' | 'garbage';

export class SandboxFailure extends Error {
  readonly reason: SandboxFailureReason;

  constructor(reason: SandboxFailureReason, detail: string) {
    super(`decoder child: ${reason}: ${detail}`);
    this.name = 'SandboxFailure';
    this.reason = reason;
  }
}
