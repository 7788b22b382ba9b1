/** How many resources somebody keeps from being put into effect: what is forgotten there stays as it was. */

export type Held = { kind: string; annotation: string; resources: number };

type Sample = { labels: Record<string, string>; value: number };
type NewGauge = (
  name: string,
  help: string,
  labelNames: readonly string[],
  look: () => readonly Sample[],
) => void;

/** `gauge`: one whose samples are looked at for every print. */
export function heldMetrics(gauge: NewGauge) {
  let look: () => readonly Held[] = () => [];
  gauge(
    'tintype_resources_held',
    'Resources that an annotation of tintype.dev keeps as they are, by kind and annotation: paused or plan-only.',
    ['kind', 'annotation'],
    () => look().map(({ resources: value, ...labels }) => ({ labels, value })),
  );
  return {
    watchHeld: (given: typeof look) => {
      look = given;
    },
  };
}
