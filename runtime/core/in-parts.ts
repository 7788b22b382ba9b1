/** In their order, so many at a time: what one statement, or one turn of the processor, takes no more of. */
export function* inParts<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
