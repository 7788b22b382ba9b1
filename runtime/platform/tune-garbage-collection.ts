/**
 * Images pass through a process in buffers outside its heap, which the garbage collector counts as growth of a heap of
 * 40 MB. It would mark the whole heap twice per upload of a large photograph, for a tenth of the upload's cost.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * How much the heap, including the buffers outside it, may grow from one full collection to the
 * next.
 */
const GROWTH_PERCENT = 200;

/** Applies to the whole process. Its limit, --max-old-space-size, is unchanged. */
export function tuneGarbageCollection(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
