/** What `--help` shows below the options of a command, for people who first meet Tintype in a terminal. */
import { type JobText, jobTexts } from '../core/job-texts.ts';
import { schedules } from '../core/schedules.ts';

export const exitCodes = 'Exit codes: 0 success, 1 failure, 2 wrong usage.';

export const processSettings =
  'Environment variables configure this process; see docs/configuration.md. At the start, it reports those that are missing.';

export const callExamples = `Examples:
  tintype call GET /v1/me
  tintype call POST /v1/projects '{"project_slug":"shop"}'
  tintype call --staff GET '/v1/staff/checks?status=flagged'`;

/** Each job, when it runs automatically, and what it does. */
export function jobNames(): string {
  const times: Readonly<Record<string, { schedule: string }>> = schedules;
  const lines = Object.entries<JobText>(jobTexts).map(([name, { does }]) => {
    const when = times[name]?.schedule ?? 'when called';
    return `  ${name.padEnd(24)}${when.padEnd(13)}${does}`;
  });
  return ['Jobs, and when they run by themselves (UTC):', ...lines].join('\n');
}
