/**
 * Why a job in a decoder child came to nothing: one failed attempt, never more; and none at all where the child was
 * `unstarted`: it ended before it could read anything, which is no job's fault.
 */

export type SandboxFailureReason =
  | 'timeout'
  | 'out_of_memory'
  | 'crashed'
  | 'garbage'
  | 'unstarted';

export class SandboxFailure extends Error {
  readonly reason: SandboxFailureReason;

  constructor(reason: SandboxFailureReason, detail: string) {
    super(`decoder child: ${reason}: ${detail}`);
    this.name = 'SandboxFailure';
    this.reason = reason;
  }
}
