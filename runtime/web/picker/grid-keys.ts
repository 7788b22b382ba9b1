/** The image to which a key moves in the grid. */

export type Steps = {
  readonly active: number;
  /** The number of loaded images. */
  readonly count: number;
  readonly columns: number;
  /** Rows per screen. */
  readonly rows: number;
};

/** The target index; undefined for a key that does not move. */
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
