/** A day of a service's samples as a row of bars, the oldest at the left. Spec: Public, status. */
import { HOUR_MS } from '../../core/durations.ts';
import { STATUS_SAMPLES_HOURS } from '../../core/limits.ts';

type Sample = { sampled_at: string; ok: boolean };

const BARS = 96;
const SHOWN_MS = STATUS_SAMPLES_HOURS * HOUR_MS;
const BAR_MS = SHOWN_MS / BARS;
/** In units of the drawing, which scales with the page. */
const STEP = 10;
const BAR = 8;
const HEIGHT = 40;

export function printDay(samples: readonly Sample[], now: Date): string {
  const begin = now.getTime() - SHOWN_MS;
  const byBar = Map.groupBy(samples, ({ sampled_at }) =>
    Math.floor((Date.parse(sampled_at) - begin) / BAR_MS),
  );
  const bars = Array.from({ length: BARS }, (_, bar) => printBar(bar, byBar.get(bar) ?? []));
  return `<svg class="day" viewBox="0 0 ${BARS * STEP} ${HEIGHT}" role="img" aria-label="${describe(samples)}">${bars.join('')}</svg>`;
}

function describe(samples: readonly Sample[]): string {
  if (samples.length === 0) return 'No samples within the last 24 hours';
  const failed = samples.filter(({ ok }) => !ok).length;
  const good = (100 * (samples.length - failed)) / samples.length;
  return `${good.toFixed(failed === 0 ? 0 : 2)} % of ${samples.length} samples of the last 24 hours were good`;
}

function printBar(bar: number, samples: readonly Sample[]): string {
  const isGood = samples.every(({ ok }) => ok);
  const state = samples.length === 0 ? 'unknown' : isGood ? 'works' : 'fails';
  return `<rect class="${state}" x="${bar * STEP}" y="0" width="${BAR}" height="${HEIGHT}" rx="2"/>`;
}
