/**
 * Splits items into chunks of at most `size`, in order: the limit of one statement, or of one turn of the event loop.
 */
export function* inChunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
