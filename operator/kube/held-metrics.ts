/** How many resources somebody keeps from being put into effect: what is forgotten there stays as it was. */

export type Held = { kind: string; annotation: string; resources: number };

type Sample = { labels: Record<string, string>; value: number };
type Shape = { name: string; help: string; labelNames: readonly string[] };

/** `gauge`: one whose samples are looked at for every print. */
export function heldMetrics(gauge: (shape: Shape, look: () => readonly Sample[]) => void) {
  let look: () => readonly Held[] = () => [];
  gauge(
    {
      name: 'tintype_resources_held',
      help: 'Resources that an annotation of tintype.dev keeps as they are, by kind and annotation: paused or plan-only.',
      labelNames: ['kind', 'annotation'],
    },
    () => look().map(({ resources: value, ...labels }) => ({ labels, value })),
  );
  return {
    watchHeld: (given: typeof look) => {
      look = given;
    },
  };
}
