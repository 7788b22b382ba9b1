/**
 * Reusable memory for the bytes that renders read. With fresh memory for each render, megabytes at a time, the process
 * would collect garbage several times a second, delaying everything else it serves.
 */

export type SourceBufferPool = {
  acquire(): BufferLease;
};
export type BufferLease = {
  /** A buffer for one object of this size; it still contains earlier bytes. */
  allocate(sizeBytes: number): Buffer;
  /** Call once nothing reads or writes it any more. */
  release(): void;
};

const KEPT_BYTES_MAX = 32 * 1024 * 1024;
const STEP_BYTES = 1024 * 1024;

/** Keeps the `kept_max` largest returned buffers, none above 32 MiB. */
export function createSourceBufferPool({ kept_max }: { kept_max: number }): SourceBufferPool {
  const kept: Buffer[] = [];
  const take = (sizeBytes: number) => {
    const at = kept.findLastIndex(({ length }) => length >= sizeBytes);
    const [found] = at === -1 ? [] : kept.splice(at, 1);
    return found ?? Buffer.allocUnsafeSlow(Math.ceil(sizeBytes / STEP_BYTES) * STEP_BYTES);
  };
  const keep = (piece: Buffer) => {
    if (piece.length > KEPT_BYTES_MAX) return;
    kept.push(piece);
    kept.sort((one, other) => other.length - one.length);
    kept.length = Math.min(kept.length, kept_max);
  };
  return {
    acquire: () => {
      const borrowed: Buffer[] = [];
      return {
        allocate: (sizeBytes) => {
          const piece = take(sizeBytes);
          borrowed.push(piece);
          return piece.subarray(0, sizeBytes);
        },
        release: () => borrowed.splice(0).forEach(keep),
      };
    },
  };
}
