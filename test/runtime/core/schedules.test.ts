import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import { isFrequent, schedules } from '../../../runtime/core/schedules.ts';
import { jobs } from '../../../runtime/jobs/table.ts';

const HOUR_MS = 3_600_000;

describe('the schedules', () => {
  it('are those of the jobs that there are', () => {
    expect(Object.keys(schedules)).toEqual(Object.keys(jobs));
  });

  it.each(Object.entries(schedules))(
    'of %s is frequent where it is due within the hour',
    (_name, it) => {
      const [first, second] = new Cron(it.schedule, { timezone: 'UTC' }).nextRuns(2);
      const apart = (second?.getTime() ?? 0) - (first?.getTime() ?? 0);
      expect(isFrequent(it)).toBe(apart < HOUR_MS);
    },
  );
});
