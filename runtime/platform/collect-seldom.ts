/**
 * Pictures pass through a process as bytes beside its heap, which the collector counts as growth of a heap of 40 MB:
 * it would mark all of it twice for each upload of a large photograph, for a tenth of what the upload costs.
 */
import { setFlagsFromString } from 'node:v8';

/** How much the heap, with what lies beside it, may grow from one full collection to the next. */
const GROWTH_PERCENT = 200;

/** For the whole process. Its limit, --max-old-space-size, stays what it is. */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
