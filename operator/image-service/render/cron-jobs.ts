/** A CronJob for each scheduled job that the dispatcher does not run. Spec: Metering. */
import { isFrequent, type Schedule, schedules } from '../../../runtime/core/schedules.ts';
import type { Installation } from '../installation.ts';
import { type RenderedObject, renderObject } from './object.ts';
import { podTemplate, unsetForeignFields } from './pod.ts';

/** How late a run may begin; after that, the next one does its work. */
const STARTING_SECONDS = 600;

export function renderCronJobs(of: Installation): RenderedObject[] {
  return Object.entries<Schedule>(schedules)
    .filter(([, schedule]) => !isFrequent(schedule))
    .map(([name, schedule]) => renderCronJob(of, name, schedule));
}

function renderCronJob(of: Installation, name: string, schedule: Schedule): RenderedObject {
  const template = podTemplate(of, 'job', ['job', name]);
  return renderObject(
    of,
    { apiVersion: 'batch/v1', kind: 'CronJob', suffix: name, component: 'job' },
    {
      spec: {
        schedule: schedule.schedule,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        suspend: of.spec.jobs?.state === 'Suspended',
        startingDeadlineSeconds: STARTING_SECONDS,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 3,
        jobTemplate: {
          spec: {
            // Includes time for the job to report its own timeout, and for the lease of a killed
            // run to expire.
            activeDeadlineSeconds: schedule.deadline_seconds + 120,
            backoffLimit: 2,
            template: unsetForeignFields({
              ...template,
              spec: { ...template.spec, restartPolicy: 'Never' },
            }),
          },
        },
      },
    },
  );
}
