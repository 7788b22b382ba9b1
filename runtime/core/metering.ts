/**
 * What a delivery costs, what a day is charged, and when an hour is final: exact integers and UTC throughout, without
 * its own clock. Spec: Limits, Metering; Organization quota.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './durations.ts';
import {
  CREDIT_BYTES,
  DAILY_CHARGE_HOUR,
  DAILY_CHARGE_MINUTE,
  DAILY_CHARGE_RECOMPUTED_DAYS,
  DELIVERY_CREDITS_MIN,
  HOUR_FINAL_AFTER_HOURS,
  PRICING_MULTIPLIER_DECIMALS_MAX,
  PRICING_MULTIPLIER_MAX,
  RAW_CREDIT_FACTOR,
  RECONCILIATION_DAYS,
  WATERMARK_CREDIT_FACTOR_TENTHS,
} from './limits.ts';

/**
 * Credits of one successful delivery: max(1, ceil(bytes × factors / 1 MiB)).
 * `is_watermarked` means that a watermark was drawn. Throws RangeError unless bytes is a safe
 * integer of at least 0.
 */
export function deliveryCredits(delivery: {
  bytes: number;
  is_raw: boolean;
  is_watermarked: boolean;
}): number {
  if (!Number.isSafeInteger(delivery.bytes) || delivery.bytes < 0) {
    throw new RangeError(`not a count of bytes: ${delivery.bytes}`);
  }
  const raw = BigInt(delivery.is_raw ? RAW_CREDIT_FACTOR : 1);
  const tenths = BigInt(delivery.is_watermarked ? WATERMARK_CREDIT_FACTOR_TENTHS : 10);
  const credits = divideUp(BigInt(delivery.bytes) * raw * tenths, 10n * BigInt(CREDIT_BYTES));
  return Math.max(DELIVERY_CREDITS_MIN, Number(credits));
}

/**
 * The contribution of one hour to a day's charge: its credits, and the multiplier in force in that
 * hour.
 */
export type ChargedHour = { credits: number; pricing_multiplier: string };

/**
 * The charge of one project and day: ceil of the exact sum of credits × multiplier. The caller
 * leaves out hours with an exemption. Throws RangeError when a multiplier is not a decimal.
 */
export function dailyCharge(hours: readonly ChargedHour[]): number {
  const sum = hours.reduce(
    (total, hour) => total + BigInt(hour.credits) * scaledMultiplier(hour.pricing_multiplier),
    0n,
  );
  return Number(divideUp(sum, MULTIPLIER_SCALE));
}

/**
 * A pricing multiplier in its canonical decimal form ('1', '1.5'); undefined unless it is from 0 to
 * 1000 with at most 6 decimals. Numbers come from JSON, texts from the database.
 */
export function parseMultiplier(value: number | string): string | undefined {
  const match = MULTIPLIER.exec(String(value));
  if (match === null) return undefined;
  const [, whole = '0', decimals = ''] = match;
  if (Number(value) > PRICING_MULTIPLIER_MAX) return undefined;
  const kept = decimals.replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

/** A multiplier and the instant from which it applies. */
export type PricingChange = { effective_from: Date; pricing_multiplier: string };

/** The multiplier in force in the hour that begins at `windowStart`; '1' before any change. */
export function multiplierAt(changes: readonly PricingChange[], windowStart: Date): string {
  let latest: PricingChange | undefined;
  for (const change of changes) {
    const isInForce = change.effective_from <= windowStart;
    if (isInForce && !(latest && latest.effective_from > change.effective_from)) latest = change;
  }
  return latest?.pricing_multiplier ?? '1';
}

/** A period without charges; `until` is null while it lasts. */
export type ExemptPeriod = { from: Date; until: Date | null };

/** Whether any part of the hour lies in an exempt period; such an hour is never billed. */
export function isHourExempt(periods: readonly ExemptPeriod[], windowStart: Date): boolean {
  const end = windowStart.getTime() + HOUR_MS;
  return periods.some(
    ({ from, until }) => from.getTime() < end && (until === null || until > windowStart),
  );
}

/** The hours to bill: each with its multiplier, without those touched by an exemption. */
export function billedHours({
  hours,
  pricing,
  exempt,
}: {
  hours: readonly { window_start: Date; credits: number }[];
  pricing: readonly PricingChange[];
  exempt: readonly ExemptPeriod[];
}): ChargedHour[] {
  return hours
    .filter(({ window_start }) => !isHourExempt(exempt, window_start))
    .map(({ credits, window_start }) => ({
      credits,
      pricing_multiplier: multiplierAt(pricing, window_start),
    }));
}

/** Start of the UTC hour that contains the instant. */
export function hourOf(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / HOUR_MS) * HOUR_MS);
}

/** When a change made at this instant takes effect: at the next full hour. */
export function nextHour(instant: Date): Date {
  return new Date(Math.ceil(instant.getTime() / HOUR_MS) * HOUR_MS);
}

/** The UTC day that contains the instant, as YYYY-MM-DD. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** Start of the newest final hour: an hour is final two hours after its end. */
export function reconciledThrough(now: Date): Date {
  return new Date(hourOf(now).getTime() - HOUR_MS - FINAL_AFTER_MS);
}

/** How many of a day's 24 hours are final. */
export function countHoursClosed(day: string, now: Date): number {
  const elapsed = reconciledThrough(now).getTime() + HOUR_MS - startOfDay(day).getTime();
  return Math.min(24, Math.max(0, elapsed / HOUR_MS));
}

/** The days that a charge run recomputes: the last three before today, oldest first. */
export function chargedDays(now: Date): string[] {
  return daysBefore(now, DAILY_CHARGE_RECOMPUTED_DAYS, 1);
}

/** When the next charge runs; `now` itself if that is exactly its time. */
export function nextCharge(now: Date): Date {
  const today = startOfDay(dayOf(now)).getTime() + CHARGE_AT_MS;
  return new Date(now.getTime() <= today ? today : today + DAY_MS);
}

/** The days that reconciliation shows: the last seven including today, oldest first. */
export function reconciliationDays(now: Date): string[] {
  return daysBefore(now, RECONCILIATION_DAYS, 0);
}

/** When the first of these days begins. */
export function reconciledSince(now: Date): Date {
  return startOfDay(reconciliationDays(now)[0] ?? '');
}

/** Midnight UTC at which a day begins. */
export function startOfDay(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Whether an organization with this balance is over quota; exemption is checked elsewhere. */
export function isOverQuota(creditBalance: number): boolean {
  return creditBalance <= 0;
}

const CHARGE_AT_MS = DAILY_CHARGE_HOUR * HOUR_MS + DAILY_CHARGE_MINUTE * MINUTE_MS;
const FINAL_AFTER_MS = HOUR_FINAL_AFTER_HOURS * HOUR_MS;
const MULTIPLIER_SCALE = 10n ** BigInt(PRICING_MULTIPLIER_DECIMALS_MAX);
const MULTIPLIER = new RegExp(
  `^(0|[1-9][0-9]{0,3})(?:\\.([0-9]{1,${PRICING_MULTIPLIER_DECIMALS_MAX}})0*)?$`,
);

function daysBefore(now: Date, count: number, newest: number): string[] {
  const ages = Array.from({ length: count }, (_, index) => newest + count - 1 - index);
  return ages.map((age) => dayOf(new Date(now.getTime() - age * DAY_MS)));
}

function scaledMultiplier(text: string): bigint {
  const decimal = parseMultiplier(text);
  if (decimal === undefined) throw new RangeError(`not a pricing multiplier: ${text}`);
  const [whole = '0', decimals = ''] = decimal.split('.');
  return BigInt(whole + decimals.padEnd(PRICING_MULTIPLIER_DECIMALS_MAX, '0'));
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
