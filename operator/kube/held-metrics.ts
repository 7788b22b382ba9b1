/** How many resources somebody keeps from taking effect: forgotten ones would stay as they are. */

export type HeldCount = { kind: string; annotation: string; resources: number };

type Sample = { labels: Record<string, string>; value: number };
type Shape = { name: string; help: string; labelNames: readonly string[] };

/** `gauge`: creates a gauge whose samples are read at every scrape. */
export function heldMetrics(gauge: (shape: Shape, readState: () => readonly Sample[]) => void) {
  let readState: () => readonly HeldCount[] = () => [];
  gauge(
    {
      name: 'tintype_resources_held',
      help: 'Resources that a tintype.dev annotation keeps unchanged, by kind and annotation: paused or plan-only.',
      labelNames: ['kind', 'annotation'],
    },
    () => readState().map(({ resources: value, ...labels }) => ({ labels, value })),
  );
  return {
    watchHeld: (given: typeof readState) => {
      readState = given;
    },
  };
}
