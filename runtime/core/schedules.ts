/**
 * When each scheduled job runs, in UTC, and for how long at most: what the jobs themselves, the process that runs the
 * frequent ones and the CronJobs of a cluster are made from. Spec: Metering; Upload session (status).
 */
import { DAILY_CHARGE_HOUR, DAILY_CHARGE_MINUTE, HOURLY_ROLLUP_MINUTE } from './limits.ts';

/** Cron words, in UTC; the deadline in seconds. */
export type Schedule = { readonly schedule: string; readonly deadline_seconds: number };

export const schedules = {
  'upload-sweep': { schedule: '* * * * *', deadline_seconds: 300 },
  'purge-queue': { schedule: '* * * * *', deadline_seconds: 300 },
  'webhook-delivery': { schedule: '* * * * *', deadline_seconds: 300 },
  'status-sampling': { schedule: '* * * * *', deadline_seconds: 50 },
  'hourly-rollup': { schedule: `${HOURLY_ROLLUP_MINUTE} * * * *`, deadline_seconds: 900 },
  'daily-charge': {
    schedule: `${DAILY_CHARGE_MINUTE} ${DAILY_CHARGE_HOUR} * * *`,
    deadline_seconds: 1800,
  },
  // After the daily charge, whose work it looks at.
  reconciliation: { schedule: '50 0 * * *', deadline_seconds: 1800 },
  'content-sweep': { schedule: '10 * * * *', deadline_seconds: 1800 },
  retention: { schedule: '40 1 * * *', deadline_seconds: 1800 },
  'signing-key-retirement': { schedule: '50 1 * * *', deadline_seconds: 300 },
} as const satisfies Record<string, Schedule>;

/** Names of jobs that no schedule runs: whoever wants what they do calls them. */
export const namesByHand = ['library-indexes'] as const;

/** Whether it is due more often than hourly: its minute is not one number. */
export function isFrequent({ schedule }: Schedule): boolean {
  return !/^\d+ /.test(schedule);
}
