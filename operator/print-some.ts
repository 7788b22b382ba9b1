/** Prints the first items of a list that may be long, and the number of the others. */
export function printSome(all: readonly string[], most: number): string {
  const more = all.length - most;
  const shown = all.slice(0, most).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
