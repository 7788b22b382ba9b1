import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
import { isFrequent, schedules } from '../../../runtime/core/schedules.ts';
import { jobs } from '../../../runtime/jobs/table.ts';

describe('the schedules', () => {
  it('cover exactly the existing jobs', () => {
    expect(Object.keys(schedules)).toEqual(Object.keys(jobs));
  });

  it.each(Object.entries(schedules))(
    'mark %s as frequent if and only if it runs more than once an hour',
    (_name, it) => {
      const [first, second] = new Cron(it.schedule, { timezone: 'UTC' }).nextRuns(2);
      const apart = (second?.getTime() ?? 0) - (first?.getTime() ?? 0);
      expect(isFrequent(it)).toBe(apart < HOUR_MS);
    },
  );
});
