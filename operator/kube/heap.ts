/** A binary heap: the least item first, in logarithmic time. Pure. */

export type Heap<T> = {
  push(item: T): void;
  peek(): T | undefined;
  pop(): T | undefined;
  size(): number;
};

export function createHeap<T>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const precedes = (at: number, other: number): 'before' | 'after' => {
    const [a, b] = [items[at], items[other]];
    return a !== undefined && b !== undefined && isBefore(a, b) ? 'before' : 'after';
  };
  const swap = (at: number, other: number) => {
    const [a, b] = [items[at], items[other]];
    if (a === undefined || b === undefined) return;
    items[at] = b;
    items[other] = a;
  };
  return {
    push: (item) => {
      items.push(item);
      for (let at = items.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (precedes(at, parent) === 'after') return;
        swap(at, parent);
        at = parent;
      }
    },
    peek: () => items[0],
    pop: () => {
      swap(0, items.length - 1);
      const least = items.pop();
      for (let at = 0, child = leastChild(0); child !== at; child = leastChild(at)) {
        swap(at, child);
        at = child;
      }
      return least;
    },
    size: () => items.length,
  };

  /** The index of the least among an item and its two children. */
  function leastChild(at: number): number {
    const left = precedes(2 * at + 1, at) === 'before' ? 2 * at + 1 : at;
    return precedes(2 * at + 2, left) === 'before' ? 2 * at + 2 : left;
  }
}
