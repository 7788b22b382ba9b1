/**
 * Random histories of metering, and a calculator of their cost that follows the sentences of the specification and uses
 * no code under test: credits times the multiplier that applies in their hour, nothing for an hour that overlaps an
 * exemption, rounded up once a day. Spec: Metering; Organization quota.
 */
import fc from 'fast-check';

export const PROJECTS = 3;
export const HOURS = 72;

export type Usage = { project: number; hour: number; credits: number };
export type PricingChange = { project: number; hour: number; thousandths: number };
/** Minutes from the start of the three days. */
export type Exemption = { start: number; minutes: number };

export type Step =
  | { kind: 'batch'; entries: Usage[] }
  | { kind: 'repeat' }
  | { kind: 'rollup'; times: number; breaks: boolean }
  | { kind: 'charge'; times: number; day: 0 | 1; breaks_at: number }
  | { kind: 'grant'; credits: number }
  | { kind: 'exempt'; is_on: boolean }
  | { kind: 'callback'; project: number; is_on: boolean };

export type History = { steps: Step[]; pricing: PricingChange[]; exemptions: Exemption[] };

const project = fc.nat({ max: PROJECTS - 1 });
const hour = fc.nat({ max: HOURS - 1 });
const times = fc.integer({ min: 1, max: 3 });
const usage = fc.record({ project, hour, credits: fc.integer({ min: 1, max: 400 }) });
const entries = fc.uniqueArray(usage, {
  minLength: 1,
  maxLength: 4,
  selector: (one) => `${one.project} ${one.hour}`,
});
const kind = <Kind extends Step['kind']>(name: Kind) => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('batch'), entries }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('repeat') }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('rollup'), times, breaks: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kind('charge'),
      times,
      day: fc.constantFrom(0 as const, 1 as const),
      // Usually greater than the number of statements, so that most runs complete.
      breaks_at: fc.nat({ max: 40 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('grant'), credits: fc.integer({ min: 1, max: 900 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('exempt'), is_on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('callback'), project, is_on: fc.boolean() }) },
);

export const history: fc.Arbitrary<History> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 16 }),
  pricing: fc.uniqueArray(fc.record({ project, hour, thousandths: fc.nat({ max: 3000 }) }), {
    maxLength: 3,
    selector: (one) => `${one.project} ${one.hour}`,
  }),
  exemptions: fc.array(
    fc.record({
      start: fc.nat({ max: HOURS * 60 - 1 }),
      minutes: fc.integer({ min: 1, max: 300 }),
    }),
    { maxLength: 2 },
  ),
});

/** Returns the charge of each project on each of the three days. */
export function chargesOf(
  seen: readonly Usage[],
  { pricing, exemptions }: Pick<History, 'pricing' | 'exemptions'>,
): number[][] {
  const sums = Array.from({ length: PROJECTS }, () => [0, 0, 0]);
  for (const { project: number, hour: at, credits } of seen) {
    if (exemptions.some((one) => touches(one, at))) continue;
    const days = sums[number] ?? [];
    const day = Math.floor(at / 24);
    days[day] = (days[day] ?? 0) + credits * multiplierOf(pricing, { project: number, hour: at });
  }
  return sums.map((days) => days.map((thousandths) => Math.ceil(thousandths / 1000)));
}

function touches({ start, minutes }: Exemption, at: number): boolean {
  return start < (at + 1) * 60 && start + minutes > at * 60;
}

/** Returns thousandths. */
function multiplierOf(
  pricing: readonly PricingChange[],
  of: { project: number; hour: number },
): number {
  let newest: PricingChange | undefined;
  for (const change of pricing) {
    if (change.project !== of.project || change.hour > of.hour) continue;
    if (newest === undefined || change.hour > newest.hour) newest = change;
  }
  return newest?.thousandths ?? 1000;
}
