// Table rate_windows: fixed windows by the database's clock, exact over all processes. Spec: Rates.
import type { Queryable } from './client.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';
import { prepared } from './prepared-statements.ts';

export type RateRequest = {
  /** What is limited. */
  scope: string;
  /** Who is limited. */
  subject: string;
  limit: number;
  /** Windows begin at whole multiples of this since the epoch: 60 is aligned to the minute. */
  window_seconds: number;
  /** How many to take at once, all or none; default 1. */
  count?: number;
};

export type RateAnswer = { is_allowed: boolean; retry_after_seconds: number };

/** Adds `count` to the current window if there is room. */
export async function takeFromRateWindow(db: Queryable, request: RateRequest): Promise<RateAnswer> {
  return rateAnswer(await db.query<RateAnswer>(TAKE, rateValues(request)), request);
}

/** `taken` has a row if there was room. Uses $1 to $5. */
export const RATE_WINDOW_CTE = `with window_of_now as (
    select date_bin(make_interval(secs => $4), now(), timestamptz '1970-01-01 00:00:00Z') as window_start
  ), taken as (
    insert into rate_windows as w (scope, subject, window_start, count)
    select $1, $2, window_start, $5::integer from window_of_now where $3 >= $5::integer
    on conflict (scope, subject, window_start) do update set count = w.count + $5::integer
      where w.count + $5::integer <= $3
    returning count
  )`;

/** The result as a RateAnswer. */
export const RATE_WINDOW_SELECT = `
  select exists (select from taken) as is_allowed, greatest(1, ceil(extract(epoch from
    window_start + make_interval(secs => $4) - now())))::integer as retry_after_seconds
  from window_of_now`;

const TAKE = prepared(`${RATE_WINDOW_CTE} ${RATE_WINDOW_SELECT}`);

export function rateValues(request: RateRequest): readonly unknown[] {
  const { scope, subject, limit, window_seconds, count = 1 } = request;
  return [scope, subject, limit, window_seconds, count];
}

export function rateAnswer([row]: RateAnswer[], { window_seconds }: RateRequest): RateAnswer {
  return row ?? { is_allowed: false, retry_after_seconds: window_seconds };
}

/** Deletes windows that began longer ago; returns how many. */
export function deleteOldRateWindows(db: Queryable, ageSeconds: number): Promise<number> {
  return deleteRowsOlderThan(db, { table: 'rate_windows', column: 'window_start' }, ageSeconds);
}
