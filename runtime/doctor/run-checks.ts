/** Runs checks: areas in parallel, the checks of an area in order, none after one that went wrong. */
import { Advice } from '../platform/advice.ts';
import { maskSecrets } from '../platform/log.ts';
import { StorageUnavailable } from '../platform/storage/bucket.ts';
import { type Check, type Finding, type Report, skipped, wrong } from './check.ts';

export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Promise<Report[]> {
  const areas = [...Map.groupBy(checks, ({ area }) => area).values()];
  return (await Promise.all(areas.map((own) => runInOrder(own, subject)))).flat();
}

async function runInOrder<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Promise<Report[]> {
  const reports: Report[] = [];
  let stoppedAt: string | undefined;
  for (const check of checks) {
    const findings =
      stoppedAt === undefined
        ? await runOne(check, subject)
        : [skipped(`not tried until “${stoppedAt}” is fixed`)];
    reports.push(
      ...findings.map((finding) => ({ name: check.name, ...finding, area: check.area })),
    );
    if (findings.some(({ outcome }) => outcome === 'wrong')) stoppedAt ??= check.name;
  }
  return reports;
}

async function runOne<Subject>(
  check: Check<Subject>,
  subject: Subject,
): Promise<readonly Finding[]> {
  try {
    return [await check.run(subject)].flat();
  } catch (error) {
    return [describeFault(error, check.advice)];
  }
}

/**
 * Errors of storage and broker include their own advice. Other errors may contain an address with
 * its password.
 */
function describeFault(error: unknown, advice: string): Finding {
  if (error instanceof StorageUnavailable) return wrong('failed', error.advice);
  if (error instanceof Advice) return wrong('failed', error.message);
  return wrong(`failed: ${maskSecrets(messageOf(error))}`, advice);
}

/** The innermost cause: the errors around it are for programs. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return messageOf(error.cause);
  const { code } = error as NodeJS.ErrnoException;
  return error.message === '' ? (code ?? error.name) : error.message;
}
