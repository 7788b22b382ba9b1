/** Lowers a process's priority, so that serving and coordinating go first on a machine that is busy decoding. */
import { constants, getPriority, setPriority } from 'node:os';

/** The niceness of decoders and scanners: behind the servers. */
const DECODER_NICE: number = constants.priority.PRIORITY_BELOW_NORMAL;

/** `pid`: 0 for this process, or one that it has started. */
export function lowerPriority(pid = 0, nice = DECODER_NICE): void {
  setPriority(pid, Math.max(getPriority(pid), nice));
}

/**
 * The niceness of a decoder that should have this one. Where all of Tintype runs in the background, its decoders keep
 * the priority of their parent: other work there, which is not behind it, would let them starve.
 */
export function niceOfDecoder(wanted = DECODER_NICE): number {
  const own = getPriority();
  return own < DECODER_NICE ? wanted : own;
}
