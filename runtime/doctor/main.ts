/** `tintype doctor`: tries everything that Tintype needs, and says for each whether it works and what to do. */
import { styleText } from 'node:util';
import { Advice } from '../platform/advice.ts';
import type { Environment } from '../platform/config.ts';
import type { Outcome, Report } from './check.ts';
import { checks } from './checks.ts';
import { runChecks } from './run-checks.ts';
import { type DoctorOptions, openSubject } from './subject.ts';

export async function doctorCommand(options: DoctorOptions, env: Environment): Promise<void> {
  const subject = await openSubject(options, env);
  const reports = await runChecks(checks, subject);
  await subject.db?.close();
  const wrong = reports.filter(({ outcome }) => outcome === 'wrong').length;
  process.stdout.write(options.json === true ? printJson(reports) : print(reports));
  if (wrong > 0) throw new Advice(`${wrong} of ${reports.length} checks failed`);
}

function printJson(reports: readonly Report[]): string {
  const ok = reports.every(({ outcome }) => outcome !== 'wrong');
  return `${JSON.stringify({ ok, checks: reports })}\n`;
}

const MARKS = {
  ok: ['green', '✓'],
  wrong: ['red', '✗'],
  warning: ['yellow', '!'],
  skipped: ['dim', '–'],
} as const satisfies Record<Outcome, readonly [string, string]>;

function print(reports: readonly Report[]): string {
  const blocks = [...Map.groupBy(reports, ({ area }) => area)].map(([area, own]) => {
    const title = styleText('bold', area, { stream: process.stdout });
    return `${title}\n${own.map(printReport).join('')}`;
  });
  return `${blocks.join('\n')}\n`;
}

function printReport({ name, outcome, says, advice }: Report): string {
  const [color, sign] = MARKS[outcome];
  const mark = styleText(color, sign, { stream: process.stdout });
  return `  ${mark} ${name}: ${says}\n${advice === undefined ? '' : `      ${advice}\n`}`;
}
