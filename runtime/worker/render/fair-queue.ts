/**
 * Waiting renders, in the order in which they are taken: those of one project in order of arrival, and among projects
 * the one that has received least since it came (start-time fair queueing, by cost).
 */

export type Cost = { project_id: string; cost_ms: number };

export type FairQueue<Item extends Cost> = {
  add(item: Item): void;
  /** Takes the next permitted item, which also uses up its project's turn. */
  take(may: (item: Item) => boolean): Item | undefined;
  /** False when the item does not wait (any more). */
  remove(item: Item): boolean;
  size(): number;
  costOf(projectId: string): number;
  /**
   * The cost taken before this item if nothing else arrives: its project's own, and about as much
   * of each other project.
   */
  costAhead(item: Cost): number;
  /** The project with the most waiting work, and its newest item. */
  longest(): { cost_ms: number; last: Item | undefined };
};

/**
 * `tag` grows with the cost that the project has received; it never lags behind the project served
 * last.
 */
type Line<Item> = { tag: number; items: Set<Item> };

export function createFairQueue<Item extends Cost>(): FairQueue<Item> {
  const lines = new Map<string, Line<Item>>();
  let now = 0;
  const sumOf = (line: Line<Item> | undefined) =>
    [...(line?.items ?? [])].reduce((sum, { cost_ms }) => sum + cost_ms, 0);
  const costOf = (projectId: string) => sumOf(lines.get(projectId));
  /** Forgets a project without waiting items once it would start level with the others. */
  const forget = () => {
    for (const [id, { tag, items }] of lines) if (items.size === 0 && tag <= now) lines.delete(id);
  };
  return {
    add: (item) => {
      const line = lines.get(item.project_id) ?? { tag: now, items: new Set() };
      line.tag = startTag(line, now);
      line.items.add(item);
      lines.set(item.project_id, line);
    },
    take: (may) => {
      const found = firstOf([...lines.values()], may);
      if (found === undefined) return undefined;
      const { line, item } = found;
      line.items.delete(item);
      now = line.tag;
      line.tag += item.cost_ms;
      forget();
      return item;
    },
    remove: (item) => lines.get(item.project_id)?.items.delete(item) ?? false,
    size: () => [...lines.values()].reduce((sum, { items }) => sum + items.size, 0),
    costOf,
    costAhead: ({ project_id }) => {
      const own = lines.get(project_id);
      const tag = (own === undefined ? now : startTag(own, now)) + sumOf(own);
      const others = [...lines].filter(([id]) => id !== project_id);
      return sumOf(own) + others.reduce((sum, [, line]) => sum + costBefore(line, tag), 0);
    },
    longest: () => {
      const [line] = [...lines.values()].toSorted((one, other) => sumOf(other) - sumOf(one));
      return { cost_ms: sumOf(line), last: [...(line?.items ?? [])].at(-1) };
    },
  };
}

function startTag({ tag, items }: Line<unknown>, now: number): number {
  return items.size === 0 ? Math.max(tag, now) : tag;
}

/**
 * The cost of a line's renders whose turn comes before, or together with, that of one with this
 * tag.
 */
function costBefore({ tag, items }: Line<Cost>, before: number): number {
  let end = tag;
  for (const { cost_ms } of items) {
    if (end > before) break;
    end += cost_ms;
  }
  return end - tag;
}

function firstOf<Item>(lines: readonly Line<Item>[], may: (item: Item) => boolean) {
  const byTag = lines.toSorted((one, other) => one.tag - other.tag);
  for (const line of byTag) {
    for (const item of line.items) if (may(item)) return { line, item };
  }
  return undefined;
}
