/** Where a key leads in the grid. */

export type Steps = {
  readonly active: number;
  /** Of the images that are loaded. */
  readonly count: number;
  readonly columns: number;
  /** Of one screen. */
  readonly rows: number;
};

/** Undefined for a key that moves nothing. */
export function targetOf(key: string, { active, count, columns, rows }: Steps): number | undefined {
  if (count === 0) return undefined;
  const within = (index: number) => Math.min(count - 1, Math.max(0, index));
  switch (key) {
    case 'ArrowRight':
      return within(active + 1);
    case 'ArrowLeft':
      return within(active - 1);
    case 'ArrowDown':
      return within(active + columns);
    case 'ArrowUp':
      return active < columns ? active : active - columns;
    case 'PageDown':
      return within(active + columns * rows);
    case 'PageUp':
      return within(active - columns * rows);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
