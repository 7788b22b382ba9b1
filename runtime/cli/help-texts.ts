/** What `--help` shows below the options of a command, for people who first meet Tintype in a terminal. */
import { manualJobNames, schedules } from '../core/schedules.ts';

export const exitCodes = 'Exit codes: 0 success, 1 failure, 2 wrong usage.';

export const processSettings =
  'Environment variables configure this process; see docs/configuration.md. At the start, it reports those that are missing.';

export const callExamples = `Examples:
  tintype call GET /v1/me
  tintype call POST /v1/projects '{"project_slug":"shop"}'
  tintype call --staff GET '/v1/staff/checks?status=flagged'`;

/** Each job, and when it runs automatically. */
export function jobNames(): string {
  const scheduled = Object.entries(schedules).map(([name, { schedule }]) => [name, schedule]);
  const rows = [...scheduled, ...manualJobNames.map((name) => [name, 'only when called'])];
  const lines = rows.map(([name = '', when]) => `  ${name.padEnd(24)}${when}`);
  return ['Jobs, and when they run by themselves (UTC):', ...lines].join('\n');
}
