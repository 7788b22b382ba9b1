/**
 * Whether a project's day agrees at every station of metering, and if not, why. The stations: batches of the delivery
 * servers, hours summed from them, what the hours cost, what was charged. Spec: Metering; Staff (reconciliation).
 */
import { chargedDays, countHoursClosed, nextCharge } from './metering.ts';

/** One project and UTC day; all credits are before the multiplier, except the last two fields. */
export type MeteringDay = {
  project_id: string;
  /** YYYY-MM-DD */
  day: string;
  requests: number;
  batched_credits: number;
  rolled_up_credits: number;
  /** From hours touched by an exemption: recorded, never billed. */
  exempt_credits: number;
  /** The day's cost by current knowledge. */
  owed_credits: number;
  /** The sum of its ledger entries. */
  charged_credits: number;
};

/** Why two stations differ. */
export const differenceCauses = {
  not_rolled_up:
    'Batches arrived after the last hourly-rollup; its next run sums them. If the difference stays, that job does not run.',
  batches_gone: 'Hours have more credits than their batches: batches were deleted by hand.',
  not_charged_yet:
    'The day is charged at 00:20 UTC of the next day, and again on the two days after that. If the difference stays, daily-charge does not run.',
  too_late:
    'Usage or a correction arrived after the three runs that charge a day, so the charge stays as it is. If one of these runs failed, the next daily-charge makes up for it.',
} as const;

export type DifferenceCause = keyof typeof differenceCauses;

/** `credits` missing at the later station; negative when it has too many. */
export type Difference = { cause: DifferenceCause; credits: number };

/** Empty when everything agrees. */
export function differencesOf(state: MeteringDay, now: Date): Difference[] {
  const unsummed = state.batched_credits - state.rolled_up_credits;
  const uncharged = state.owed_credits - state.charged_credits;
  const found: Difference[] = [
    { cause: unsummed > 0 ? 'not_rolled_up' : 'batches_gone', credits: unsummed },
    { cause: isStillCharged(state.day, now) ? 'not_charged_yet' : 'too_late', credits: uncharged },
  ];
  return found.filter(({ credits }) => credits !== 0);
}

/** Whether another run of the daily charge will include the day. */
function isStillCharged(day: string, now: Date): boolean {
  const [oldest = day] = chargedDays(nextCharge(now));
  return day >= oldest;
}

/**
 * Whether a difference is real, not just because the day is unfinished: all its hours are closed
 * and a charge should have run.
 */
export function isOverdue({ day }: Pick<MeteringDay, 'day'>, now: Date): boolean {
  return countHoursClosed(day, now) === 24;
}
