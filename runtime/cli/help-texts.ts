/** What `--help` says below the options of a command, for somebody who meets Tintype at a terminal first. */
import { namesByHand, schedules } from '../core/schedules.ts';

export const exitCodes = 'Exit codes: 0 done, 1 failed, 2 wrong use.';

export const processSettings =
  'Its settings are variables of the environment, which docs/configuration.md lists; what is missing is said at the start.';

export const callExamples = `Examples:
  tintype call GET /v1/me
  tintype call POST /v1/projects '{"project_slug":"shop"}'
  tintype call --staff GET '/v1/staff/checks?status=flagged'`;

/** Each job, and when it runs by itself. */
export function jobNames(): string {
  const scheduled = Object.entries(schedules).map(([name, { schedule }]) => [name, schedule]);
  const rows = [...scheduled, ...namesByHand.map((name) => [name, 'only when it is called'])];
  const lines = rows.map(([name = '', when]) => `  ${name.padEnd(24)}${when}`);
  return ['Jobs, and when they run by themselves (UTC):', ...lines].join('\n');
}
