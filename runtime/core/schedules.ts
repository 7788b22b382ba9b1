/**
 * When each scheduled job runs, in UTC, and its deadline: the source for the jobs themselves, for the process that runs
 * the frequent ones and for the CronJobs of a cluster. Spec: Metering; Upload session (status).
 */
import { DAILY_CHARGE_HOUR, DAILY_CHARGE_MINUTE, HOURLY_ROLLUP_MINUTE } from './limits.ts';

/** A cron expression in UTC; the deadline in seconds. */
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
  // After the daily charge, whose result it checks.
  reconciliation: { schedule: '50 0 * * *', deadline_seconds: 1800 },
  'content-sweep': { schedule: '10 * * * *', deadline_seconds: 1800 },
  retention: { schedule: '40 1 * * *', deadline_seconds: 1800 },
  'signing-key-retirement': { schedule: '50 1 * * *', deadline_seconds: 300 },
} as const satisfies Record<string, Schedule>;

/** Jobs without a schedule, which are run by hand. */
export const manualJobNames = ['library-indexes', 'reseal'] as const;

/** Whether a job runs more often than hourly: its minute is not a single number. */
export function isFrequent({ schedule }: Schedule): boolean {
  return !/^\d+ /.test(schedule);
}
